// A page is found by the numbers of the groups, then by those of the blocks in one group, and then by skipping at most
// the users of one block. These sizes keep all three short up to far beyond ten million users.

/** Users in a new block. */
export const BLOCK = 256

/** Blocks in a group. */
export const BLOCKS_PER_GROUP = 16
