// A page is found by the numbers of the groups, then by those of the blocks in one group, and then by skipping at most
// the users of one block. These sizes keep all three short up to far beyond ten million users.

/** Users in a new block. */
export const BLOCK = 256

/** Blocks in a group. PostgreSQL reads all groups for a page; SQLite finds one by an index, then walks its blocks. */
export const BLOCKS_PER_GROUP = { postgres: 64, sqlite: 16 } as const
