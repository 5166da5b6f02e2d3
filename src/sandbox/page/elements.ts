import { badge, type Tone, empty, link, table as rowsTable } from '../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../presentation/html/html.ts';
import type { CallState } from '../core/state/call.ts';
import type { ServiceEventType } from '../core/clock/service-events.ts';
import type { Service } from '../core/service/service.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

const stateWords: Record<CallState, [Tone, string]> = {
  queued: ['quiet', 'Queued'],
  dialing: ['wait', 'Dialing'],
  in_progress: ['live', 'On the line'],
  processing: ['wait', 'Processing'],
  done: ['good', 'Done'],
  failed: ['bad', 'Failed'],
};

export function stateWord(state: CallState): string {
  return stateWords[state][1];
}

export function stateBadge(state: CallState): Html {
  return badge(...stateWords[state]);
}

type Columns<Thing> = Readonly<Record<string, (thing: Thing) => HtmlValue>>;

/** `key` identifies a row on the page; each column renders one cell. */
export function table<Thing>(
  caption: string,
  things: readonly Thing[],
  { key, columns, none = null }: { key: (thing: Thing) => string; columns: Columns<Thing>; none?: HtmlValue },
): HtmlValue {
  const cellsOf = (thing: Thing) => Object.fromEntries(Object.entries(columns).map(([name, show]) => [name, show(thing)]));
  return rowsTable(
    caption,
    things.map((thing) => ({ key: key(thing), cells: cellsOf(thing) })),
    none,
  );
}

export function viewPath(view: string, more: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams({ view });
  for (const [name, value] of Object.entries(more)) if (value !== undefined && value !== '') query.set(name, String(value));
  return `/?${query.toString()}`;
}

export interface ButtonRequest {
  request: string;
  body?: unknown;
  said: string;
  confirm?: string;
}

export function button(
  text: string,
  { request, body, said, confirm }: ButtonRequest,
  attributes: HtmlValue = null,
  cssClass = 'btn sm',
): Html {
  const confirmAttribute = confirm === undefined ? null : html`data-confirm="${confirm}"`;
  const sent = body === undefined ? null : html`data-body="${JSON.stringify(body)}"`;
  return html`<form class="inline" data-request="${request}" data-said="${said}" ${sent} ${confirmAttribute}>
    <button class="${cssClass}" ${attributes}>${text}</button>
  </form>`;
}

export interface View {
  title: string;
  body: HtmlValue;
  missing?: true;
  follows?: ServiceEventType[];
  /** Refresh interval in real ms for a view that changes without events. */
  againMs?: number;
}

export interface ViewRequest {
  service: Service;
  webhooks: Webhooks;
  now: number;
  parameter: (name: string) => string;
}

/** For an address whose object does not, or no longer, exist. */
export function missingView(what: string, listView: string, listName: string): View {
  return {
    title: `No such ${what}`,
    missing: true,
    body: empty(`This sandbox has no such ${what}`, html`It may be gone with a reset. See ${link(viewPath(listView), listName)}.`),
  };
}
