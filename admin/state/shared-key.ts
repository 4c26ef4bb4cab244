// Tabs of this page in one browser share a key that its owner has ticked to keep. It goes from tab to tab in messages,
// which nothing stores.

interface Message {
  is: 'wanted' | 'key' | 'signed-out'
  /** With `key`: its text. */
  key?: string
  /** With `signed-out`: the id of the caller. */
  id?: string
}

export interface KeySharer {
  /** The key for tabs that ask for one, or null. */
  read: () => string | null
  onKey: (key: string) => void
  onSignedOut: (id: string) => void
}

const NAME = `fastify-users:${location.pathname}`

export interface SharedKey {
  ask: () => void
  give: (key: string) => void
  signOut: (id: string) => void
  close: () => void
}

/** Joins the tabs that share a key. */
export function shareKey ({ read, onKey, onSignedOut }: KeySharer): SharedKey {
  const channel = new BroadcastChannel(NAME)
  const post = (message: Message): void => channel.postMessage(message)
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    const key = data.is === 'wanted' ? read() : null
    if (key !== null) post({ is: 'key', key })
    if (data.is === 'key' && data.key !== undefined) onKey(data.key)
    if (data.is === 'signed-out' && data.id !== undefined) onSignedOut(data.id)
  }
  return {
    ask: () => post({ is: 'wanted' }),
    give: (key) => post({ is: 'key', key }),
    signOut: (id) => post({ is: 'signed-out', id }),
    close: () => channel.close()
  }
}
