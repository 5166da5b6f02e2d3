import { inject } from 'vitest';

/** Shared by all files; started at first use (see shared-servers.ts). Throws when it does not start. */
export async function sharedServer(name: 'temporal' | 'postgres'): Promise<string> {
  const answer = await fetch(`${inject('sharedServers')}/${name}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The ${name} server of the tests did not start: ${text}`);
  return text;
}
