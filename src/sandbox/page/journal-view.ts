import * as ui from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { JournalEntry } from '../judge/journal.ts';
import type { Service } from '../core/service/service.ts';
import { table, viewPath, missingView, type View, type ViewRequest } from './elements.ts';

const perPage = 100;
const searched = 20_000;

interface Choice {
  value: string;
  words: string;
  holds: (entry: JournalEntry) => boolean;
}

const choices: readonly [Choice, ...Choice[]] = [
  { value: '', words: 'All', holds: () => true },
  { value: '2xx', words: 'Successes', holds: (entry) => classOf(entry) === '2' },
  { value: '4xx', words: 'Refusals', holds: (entry) => classOf(entry) === '4' },
  { value: '5xx', words: 'Failures', holds: (entry) => classOf(entry) === '5' },
  { value: 'faults', words: 'Met a fault', holds: ({ faults }) => faults.length > 0 },
  { value: 'unmatched', words: 'Unknown address', holds: ({ unmatched }) => unmatched },
  { value: 'aborted', words: 'Cut off', holds: ({ ending }) => ending === 'aborted' },
];

function classOf({ socketRefusal, ending, status }: JournalEntry): string | undefined {
  if (socketRefusal !== null) return '4';
  return ending === 'sent' ? String(status).charAt(0) : undefined;
}

export function journalView({ service, parameter }: ViewRequest): View {
  const choice = choices.find(({ value }) => value === parameter('show')) ?? choices[0];
  const { found, more } = newest(service, choice);
  return {
    title: 'Journal',
    follows: ['request'],
    body: ui.panel(
      'Requests',
      [
        html`<nav class="chips" aria-label="Which requests">
          ${choices.map(
            ({ value, words }) =>
              html`<a href="${viewPath('journal', { show: value })}" ${value === choice.value ? html`aria-current="true"` : null}
                >${words}</a
              >`,
          )}
        </nav>`,
        table('Requests, the newest first', found, {
          key: ({ sequence }) => `request-${sequence}`,
          columns,
          none:
            choice.value === ''
              ? ui.empty(
                  'Nothing was asked yet',
                  html`Every request to the service is kept here. The description of all operations is at
                  ${ui.link('/openapi.json', '/openapi.json')}.`,
                )
              : ui.empty('No such request', ui.link(viewPath('journal'), 'Show all requests')),
        }),
        more ? html`<p class="more">Older ones are in <code>GET /_sandbox/journal</code>.</p>` : null,
      ],
      ui.aside(`${ui.count(service.journal.inProgress, 'request')} in progress`),
    ),
  };
}

export function requestView({ service, parameter }: ViewRequest): View {
  const sequence = Number(parameter('id'));
  const entry = Number.isSafeInteger(sequence) && sequence > 0 ? service.journal.get(sequence) : null;
  if (entry === null) return missingView('request', 'journal', 'Journal');
  return {
    title: `Request ${entry.sequence}`,
    follows: ['request'],
    body: [
      html`<p class="crumb">${ui.link(viewPath('journal'), 'Journal')}</p>`,
      ui.panel(
        html`<span class="request-line"><span class="method">${entry.method}</span> ${ui.address(entry.path)}</span>`,
        ui.facts([
          ['Operation', entry.operation],
          ['Duration', entry.durationMs === null ? null : `${entry.durationMs} ms`],
          ['Time', ui.instant(entry.at, 'full')],
          ['Request id', entry.requestId === null ? null : ui.id(entry.requestId)],
          ['In parallel', entry.parallel > 1 ? entry.parallel : null],
          ['Faults', entry.faults.join(', ')],
          ['Batch', entry.batchId === null ? null : ui.link(viewPath('calls', { batch: entry.batchId }), ui.id(entry.batchId))],
          ['Calls accepted', entry.callsAccepted],
          ['Conversation refused', entry.socketRefusal],
        ]),
        statusBadge(entry),
      ),
    ],
  };
}

function newest({ journal }: Service, choice: Choice): { found: JournalEntry[]; more: boolean } {
  const found: JournalEntry[] = [];
  for (let sequence = journal.last; sequence > Math.max(0, journal.last - searched); sequence -= 1) {
    const entry = journal.get(sequence);
    if (entry === null) break;
    if (!choice.holds(entry)) continue;
    if (found.length === perPage) return { found, more: true };
    found.push(entry);
  }
  return { found, more: false };
}

const columns = {
  Request: (entry: JournalEntry) =>
    html`<a class="request-line" href="${viewPath('request', { id: entry.sequence })}"
      ><span class="method">${entry.method}</span> ${ui.address(entry.path)}</a
    >`,
  Status: statusBadge,
  Operation: operationOf,
  Duration: ({ durationMs }: JournalEntry) => ui.figure(durationMs === null ? '–' : `${durationMs} ms`),
  Faults: ({ faults }: JournalEntry) => faults.join(', ') || ui.muted('–'),
  Time: ({ at }: JournalEntry) => ui.instant(at),
};

function operationOf({ operation, unmatched }: JournalEntry): Html {
  if (operation !== null) return html`<span class="word">${operation}</span>`;
  return ui.muted(unmatched ? 'Unknown' : '–');
}

function statusBadge({ ending, status, socketRefusal }: JournalEntry): Html {
  if (ending === 'in_progress') return ui.badge('live', 'In progress');
  if (ending === 'aborted') return ui.badge('bad', 'Cut off');
  if (socketRefusal !== null) return ui.badge('wait', 'Refused');
  const tone: ui.Tone = status === null || status >= 500 ? 'bad' : status >= 400 ? 'wait' : 'good';
  return ui.badge(tone, String(status));
}
