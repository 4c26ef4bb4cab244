/** A list with at least one item. */
export type Several<Item> = readonly [Item, ...Item[]]
