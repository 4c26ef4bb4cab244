/**
 * Claims the idempotency key of a request for what it is about to do. `note`: the id of what it makes, or another text
 * by which the write is the same however often it is done. Returns the note of the first request with the key, which
 * may have ended before its write; `isFirst`: it is this request.
 */
export type Claim = (request: unknown, note: string) => Promise<{ note: string, isFirst: boolean }>

/** For a request without an idempotency key. */
export const unclaimed: Claim = async (_request, note) => ({ note, isFirst: true })
