import type { EventLog, EventRecord, EventsPage, EventsRequest, Page } from '../../../lib/storage/storage.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

/** How a correct store reads its event log. */
export class LoggedReading extends PlainStore {
  eventOf (state: State, id: string): EventRecord | null {
    return structuredClone(state.events.find((event) => event.id === id) ?? null)
  }

  async readLog (request: EventsRequest): Promise<EventsPage | null> {
    return await this.read<EventsPage | null>((state) => this.pageOfLog(state, request))
  }

  pageOfLog (state: State, request: EventsRequest): EventsPage | null {
    const { after, limit, order, subject } = request
    const log = this.ordered(state.events)
    const place = after === null ? null : this.placeOf(log, after)
    if (place === null && after !== null) return null
    const isDesc = order === 'desc'
    const all = log.filter((event) => this.isMeant(event, request))
    const behind = isDesc ? log.slice(0, place ?? log.length).reverse() : log.slice(place === null ? 0 : place + 1)
    const found = behind.filter((event) => all.includes(event))
    const position = isDesc ? (after === null ? log.at(-1)?.id ?? null : null) : this.positionOf(log, found, limit)
    return { ...this.cut(found, limit), position, ...(isDesc && subject !== undefined && { total: all.length }) }
  }

  isMeant (event: EventRecord, { types, subject, actor, since, until }: EventsRequest): boolean {
    return (types === null || this.isOfTypes(event.type, types)) &&
      (subject === undefined || event.subject === subject) &&
      (actor === undefined || this.isBy(event, actor)) &&
      this.isInTime(event.timestamp, since, until)
  }

  isBy ({ actor }: EventRecord, id: string): boolean {
    return actor?.id === id
  }

  isInTime (time: string, since: string | undefined, until: string | undefined): boolean {
    return (since === undefined || time >= since) && (until === undefined || time < until)
  }

  ordered (events: readonly EventRecord[]): readonly EventRecord[] {
    return events
  }

  placeOf (log: readonly EventRecord[], id: string): number | null {
    const place = log.findIndex((event) => event.id === id)
    return place === -1 ? null : place
  }

  isOfTypes (type: string, types: readonly string[]): boolean {
    return types.includes(type)
  }

  positionOf (log: readonly EventRecord[], found: readonly EventRecord[], limit: number): string | null {
    return (found.length > limit ? found[limit - 1] : log.at(-1))?.id ?? null
  }

  cut (found: readonly EventRecord[], limit: number): Omit<EventsPage, 'position'> {
    return { events: structuredClone(found.slice(0, limit)), more: found.length > limit }
  }

  async history (...[subject, { offset, limit, types }]: Parameters<EventLog['history']>): Promise<Page<EventRecord>> {
    return await this.read((state) => {
      const items = this.eventsOfSubject(state, subject).filter(({ type }) => types?.includes(type) ?? true)
      return { items: structuredClone(items.slice(offset, offset + limit)), total: items.length }
    })
  }

  eventsOfSubject (state: State, subject: string): EventRecord[] {
    return state.events.filter((event) => event.subject === subject).reverse()
  }
}
