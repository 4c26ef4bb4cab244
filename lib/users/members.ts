/** The members that every user has. An own field needs another name. */
export const USER_MEMBERS: readonly string[] = ['id', 'name', 'email', 'version', 'createdAt', 'updatedAt']

/** The kinds of change of a user. */
export type UserEventType = 'user.created' | 'user.updated' | 'user.deleted'
