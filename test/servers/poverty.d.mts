export function povertyOf (role: string, database: string): readonly string[]
