export declare function startPgBouncer (
  serverUrl: string, more?: string
): Promise<{ url: string, stop: () => Promise<void> } | undefined>
