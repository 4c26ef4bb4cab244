// Mistakes of stores that write a change and its event in two steps, and answer after both.
import { LoggedStore, plantLogged } from './logged-store.ts'
import type { Mistake } from './plant.ts'
import type { State, UserRow } from './state.ts'

type Results = Parameters<LoggedStore['recordResult']>

const TURNS = 3

/** A store that answers a write only when all of its steps are made. */
class SteppingStore extends LoggedStore {
  steps: Array<Promise<void>> = []

  override async write<C, T> (
    method: string, check: (state: State) => C, apply: (state: State, checked: C) => T
  ): Promise<T> {
    const result = await super.write(method, check, apply)
    await this.lastStep(method)
    return result
  }

  async lastStep (_method: string): Promise<void> {
    await Promise.all(this.steps.splice(0))
  }

  async turns (): Promise<void> {
    for (let count = 0; count < TURNS; count++) await this.turn()
  }
}

export const eventsSteps: Mistake[] = [
  plantLogged('a change is made some turns before its event', class extends SteppingStore {
    override recordResult (...given: Results) {
      this.steps.push(this.turns().then(() => super.recordResult(...given)))
    }
  }),
  plantLogged('an event is recorded some turns before its change', class extends SteppingStore {
    seen = new Map<string, UserRow>()

    override async lastStep () {
      const users = new Map(this.session.state.users)
      await this.turns()
      this.seen = users
    }

    override async findUser (id: string) {
      return await this.read(() => structuredClone(this.seen.get(id)?.user ?? null))
    }
  })
]
