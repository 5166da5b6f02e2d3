import { duration, empty, facts, figure, id, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { CalleeCall, CalleeRow } from '../../../ledger/read/callee.ts';
import { dispositionText, reasonText } from '../../../presentation/words/history.ts';
import { callPath, rowPath } from '../core/links.ts';
import { may, type ViewRequest } from '../core/view.ts';

interface PlacedCall extends CalleeCall {
  row: CalleeRow;
}

/** The calls to one number, and what the agent has collected in them: the words of a person are for whoever may operate. */
export function personCalls(request: ViewRequest, rows: readonly CalleeRow[]): HtmlValue {
  const calls = rows
    .flatMap((row) => row.calls.map((call): PlacedCall => ({ ...call, row })))
    .toSorted((a, b) => a.attempt.planned_at - b.attempt.planned_at);
  const collected = calls.filter(({ facts: known }) => hasValues(known?.collected) || hasValues(known?.evaluation));
  return [
    panel(
      'Calls',
      table(
        'Calls to this number, oldest first',
        calls.map((call) => ({
          key: `call-${call.attempt.attempt_id}`,
          cells: cellsOf(request, call, rows.length > 1),
        })),
        empty('No call was planned yet', 'When its turn comes, the call stands here with its result.'),
      ),
    ),
    collected.length === 0
      ? null
      : panel(
          'What was collected',
          may(request, 'operate') ? collected.map(valuesOf) : html`<p class="muted">What people have said takes the role operate.</p>`,
        ),
  ];
}

function hasValues(values: Record<string, unknown> | null | undefined): boolean {
  return Object.keys(values ?? {}).length > 0;
}

function cellsOf(request: ViewRequest, { attempt, facts: known, row }: PlacedCall, shared: boolean) {
  const { number, planned_at: plannedAt, posted_at: postedAt, settled_at: settledAt } = attempt;
  const { campaignId } = row.campaign;
  const isKnown = attempt.conversation_id !== null && may(request, 'operate');
  const durationMs = known?.durationMs ?? null;
  return {
    Call: shared ? link(rowPath(campaignId, row.recipient.row_number), `${campaignId}, call ${number}`) : html`Call ${figure(number)}`,
    Result: resultOf(attempt),
    Requested: postedAt === null ? html`<span class="muted">planned ${instant(plannedAt, 'full')}</span>` : instant(postedAt, 'full'),
    'Result known': instant(settledAt, 'full'),
    Duration: durationMs === null ? '–' : figure(duration(durationMs)),
    Conversation: [
      attempt.conversation_id === null ? '–' : id(printable(attempt.conversation_id)),
      isKnown ? html`<p>${link(callPath(campaignId, row.recipient.row_number, number), 'Transcript and recording')}</p>` : null,
    ],
  };
}

function resultOf({ disposition, detail, counted, state }: CalleeCall['attempt']): HtmlValue {
  if (disposition === null) return reasonText(state);
  return [
    dispositionText(disposition),
    detail === null ? null : html`<span class="muted"> (${reasonText(detail)})</span>`,
    counted === 0 ? html`<span class="muted">, uses up no attempt</span>` : null,
  ];
}

function valuesOf({ attempt, facts: known }: PlacedCall): Html {
  const entries = Object.entries({ ...known?.collected, ...known?.evaluation });
  return html`<div id="values-${attempt.attempt_id}" class="stack">
    <p class="muted">Call ${attempt.number}, ${instant(attempt.posted_at, 'full')}</p>
    ${facts(entries.map(([name, value]) => [printable(name), valueText(value)] as const))}
  </div>`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}
