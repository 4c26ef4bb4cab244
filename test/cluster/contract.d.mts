export function suite (
  server: { connection: string, prefix: string },
  paths: readonly string[],
  say: (line: string) => void
): Promise<{ passed: number, failed: number }>
