/** What a caller without types can pass. */
export const untyped = (value: unknown) => JSON.parse(JSON.stringify(value))
