/* The view of the sandbox, followed with the control token where one is wanted. */

import { ask, token } from './ask.js';
import { byId } from './dom.js';
import { createFollower } from './follow.js';

const root = document.documentElement;

export const follower = createFollower({
  view: async () => {
    const asked = token.get();
    const response = await ask('GET', `/_sandbox/page${location.search}`);
    if (response.status === 401) return null;
    if (!response.ok) throw new Error(String(response.status));
    const markup = await response.text();
    // What comes after the token was forgotten, or changed, is not for whoever sits here now.
    if (token.get() !== asked) return null;
    if (root.dataset.token !== undefined) root.dataset.token = 'given';
    return markup;
  },
  events: () => '/_sandbox/events',
  ask: (path, signal) => ask('GET', path, { signal }),
  concerns: (type) => type === 'missed' || (byId('main').dataset.follows?.split(' ') ?? []).includes(type),
  leastMs: 250,
  isFresh: false,
});

/** Shows what there is to see and goes on with it, once there is a token where one is wanted. */
export async function start() {
  if (root.dataset.token === 'wanted') {
    if (token.get() === null) return byId('token').focus();
    await follower.refresh();
    if (root.dataset.token === 'wanted') return;
    byId('main').focus({ preventScroll: true });
  }
  follower.start();
}
