import { StorageError } from '../../../lib/storage/storage-error.ts'
import type { SchemaRequirements } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'
import type { State } from './state.ts'

/** A store that is closed, with what it does from then on. */
class Closing extends PlainStore {
  isClosed = false

  override async close () {
    await super.close()
    this.isClosed = true
  }
}

export const lifecycleClose: Mistake[] = [
  plant('close throws the second time', class extends Closing {
    override async close () {
      if (this.isClosed) throw new Error('the pool has been ended already')
      await super.close()
    }
  }),
  plant('close throws when it is called twice concurrently', class extends Closing {
    isClosing = false

    override async close () {
      if (this.isClosing && !this.isClosed) throw new Error('the pool is being ended')
      this.isClosing = true
      await super.close()
    }
  }),
  plant('close never ends the second time', class extends Closing {
    override async close () {
      if (this.isClosed) await new Promise(() => {})
      await super.close()
    }
  }),
  plant('reads after close throw an error of the driver', class extends Closing {
    override async read<T> (step: (state: State) => T) {
      if (this.isClosed) throw new Error('cannot use a pool after calling end on the pool')
      return await super.read(step)
    }
  }),
  plant('writes after close throw an error of the driver', class extends Closing {
    override async write<C, T> (name: string, check: (state: State) => C, apply: (state: State, checked: C) => T) {
      if (this.isClosed) throw new TypeError('cannot read properties of null')
      return await super.write(name, check, apply)
    }
  }),
  plant('a check after close throws an error of the driver', class extends Closing {
    override async check (requirements?: SchemaRequirements) {
      if (this.isClosed) throw new Error('the client is closed')
      await super.check(requirements)
    }
  }),
  plant('calls after close throw before they give a promise', class extends Closing {
    override findUser (id: string) {
      if (this.isClosed) throw new StorageError('unavailable', 'the store is closed')
      return super.findUser(id)
    }
  }),
  plant('reads after close find nothing', class extends Closing {
    override async close () {
      await super.close()
      this.database.state.users.clear()
    }
  }),
  plant('calls after close throw a fault', class extends Closing {
    override async read<T> (step: (state: State) => T) {
      if (this.isClosed) throw new StorageError('fault', 'the store is closed')
      return await super.read(step)
    }
  }),
  plant('calls after close never end', class extends Closing {
    override async findUser (id: string) {
      if (this.isClosed) await new Promise(() => {})
      return await super.findUser(id)
    }
  }),
  plant('writes after close are lost', class extends Closing {
    override putUser (...given: Parameters<PlainStore['putUser']>) {
      if (!this.isClosed) super.putUser(...given)
    }
  })
]
