/** Reads something in parts: calls back with each, and waits for it. */
export type ReadParts<Item> = (onPart: (items: Item[]) => Promise<void>) => Promise<void>

/** What comes next: a part, or the end, with or without an error. */
type Offer<Item> = { items: Item[] } | { end: () => void }

/** Hands parts from a producer to a consumer, one at a time. */
function createHandover<Item> () {
  let accept = (_offer: Offer<Item>): void => {}
  let taken = (): void => {}
  let left = (): void => {}
  let offered = new Promise<Offer<Item>>((resolve) => { accept = resolve })
  let end: Offer<Item> | null = null
  return {
    give: (items: Item[]) => new Promise<void>((resolve, reject) => {
      taken = resolve
      left = () => reject(new Error('nobody takes the parts any more'))
      accept({ items })
    }),
    end (how: () => void): void {
      end = { end: how }
      accept(end)
    },
    /** The reader may have ended while a part was being taken. */
    next: async (): Promise<Offer<Item>> => end ?? await offered,
    goOn (): void {
      offered = new Promise<Offer<Item>>((resolve) => { accept = resolve })
      taken()
    },
    leave: (): void => left()
  }
}

/**
 * The parts as a generator. `read` is called when the first part is asked for, waits while none is asked for, and ends
 * before the generator does.
 */
export async function * partsOf<Item> (read: ReadParts<Item>): AsyncGenerator<Item[], void, undefined> {
  const handover = createHandover<Item>()
  const reading = read(handover.give)
    .then(() => handover.end(() => {}), (error: unknown) => handover.end(() => { throw error }))
  try {
    while (true) {
      const offer = await handover.next()
      if ('end' in offer) return offer.end()
      yield offer.items
      handover.goOn()
    }
  } finally {
    handover.leave()
    await reading
  }
}
