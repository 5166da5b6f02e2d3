import { startDraft } from './draft.js';
import { byId, notify } from './dom.js';
import { createFollower } from './follow.js';
import { askPart, startKeeping } from './keep.js';
import { playOrRest, startListening } from './listen.js';
import { leaveZone, setClock, tick, writeTimes } from './times.js';

writeTimes(document);
leaveZone();
setClock();
setInterval(tick, 250);
followView();
startDraft();
startListening();
startKeeping();
notify(byId('notice').textContent);

/** Follows what the view says it follows; nothing where it changes for nothing. */
function followView() {
  const { follows, again } = byId('main').dataset;
  if (!follows && !again) return;
  createFollower({
    view: async () => {
      const response = await askPart(location.href);
      if (response.status === 401) return null;
      const text = await response.text();
      return response.headers.get('content-type')?.startsWith('text/plain') ? { off: text } : text;
    },
    events: () => (follows ? `/changes?campaign=${encodeURIComponent(follows)}` : null),
    ask: (path, signal) => askPart(path, { signal }),
    concerns: (type) => type === 'changed',
    leastMs: 1000,
    isFresh: true,
    isHeld: () => Boolean(document.activeElement?.closest('form.act')),
  }).start();
}

// Without this, a button sends the choice; the style sheet follows it at once.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.form?.id !== 'theme') return;
  void fetch(target.form.action, { method: 'POST', body: new URLSearchParams({ theme: target.value }) });
});

// Keys for whoever works without a mouse; off while somebody types. Escape closes a menu, then the drawer.
document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key === 'Escape' && document.querySelector('details.menu[open]') !== null) {
    const open = document.activeElement?.closest('details.menu[open]');
    closeMenus(null);
    return open?.querySelector('summary')?.focus();
  }
  if (ctrlKey || metaKey || altKey) return;
  if (target instanceof Element && target.closest('input, textarea, select, audio, [contenteditable]') !== null) return;
  if (key === '/') find(event);
  else if (key === 'j' || key === 'k') step(key === 'j' ? 1 : -1);
  else if (key === 'p') playOrRest();
  else if (key === 'Escape') document.getElementById('close-drawer')?.click();
});

// A menu closes as others do: when another opens, by a click beside it, by Escape.
document.addEventListener('click', ({ target }) => closeMenus(target instanceof Node ? target : null));

function closeMenus(/** @type {Node | null} */ but) {
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(but)) menu.removeAttribute('open');
}

/** To the search of the page, or to that of all campaigns. */
function find(/** @type {KeyboardEvent} */ event) {
  if (document.getElementById('views') === null) return;
  event.preventDefault();
  const field = document.querySelector('main [type="search"]');
  if (field instanceof HTMLInputElement) field.focus();
  else location.assign('/search');
}

/** To the next line of a list, or the one before. */
function step(/** @type {1 | -1} */ by) {
  const links = [...document.querySelectorAll('.go th a')].filter((link) => link.getClientRects().length > 0);
  const at = links.findIndex((link) => link === document.activeElement);
  const next = links[at < 0 ? (by === 1 ? 0 : links.length - 1) : at + by];
  if (next instanceof HTMLElement) next.focus();
}

// A link of `carillon dev` carries its token behind the `#`, which no server and no log sees.
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const field = document.getElementById('token');
if (token !== null && field instanceof HTMLInputElement) {
  history.replaceState(null, '', location.pathname + location.search);
  field.value = token;
  field.form?.requestSubmit();
}
