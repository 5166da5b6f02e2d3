import { badge, empty, instant, link, linkButton, muted, panel, table, two, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { callbackCounts, localTimeText, reasonText } from '../../../presentation/words/callbacks.ts';
import { capital, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { countCallbacks } from '../../../ledger/rows/promises.ts';
import { listCallbacks, type Callback } from '../../../ledger/people/callbacks.ts';
import { callPath, campaignNav, rowPath } from '../core/links.ts';
import { campaignName, openCampaign, personName } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const againMs = 10_000;
/** Of finished ones; the results file has all. */
const mostOver = 200;

export async function callbacksView(request: ViewRequest): Promise<View> {
  const { campaign, campaignId, db } = await openCampaign(request);
  const all = await listCallbacks(db, { campaignId, now: request.now });
  const open = all.filter(({ state }) => state === 'open');
  const unclear = all.filter(({ state }) => state === 'unclear');
  const over = all.filter(({ state }) => state !== 'open' && state !== 'unclear');
  const mayAct = may(request, 'operate') && !hasEnded(campaign);
  const rowsOf = (some: readonly Callback[]) =>
    some.map((callback) => ({ key: keyOf(callback), cells: cellsOf(request, { campaignId, callback, mayAct }) }));
  const shown = over.slice(0, mostOver);
  const counts = callbackCounts(await countCallbacks(db, campaignId, request.now), request.now);
  return {
    title: `${campaignName(campaign)}: call backs`,
    section: 'campaigns',
    follows: campaignId,
    againMs,
    crumbs: [['/', 'Campaigns']],
    tabs: campaignNav(campaign, 'callbacks'),
    meta: html`${counts === '' ? null : html`<span>${capital(counts)}</span>`}<span
        >Nobody calls these numbers before, and the call goes before all others then.</span
      >`,
    body: [
      unclear.length === 0
        ? null
        : panel(
            'When is not clear',
            table('When is not clear', rowsOf(unclear), null, true),
            html`<p>${plural(unclear.length, 'person', 'people')} for you to decide about</p>`,
          ),
      panel('To be called back', table('To be called back', rowsOf(open), noCallbacks(), true)),
      over.length === 0
        ? null
        : panel(
            'Over',
            table('Over', rowsOf(shown), null, true),
            over.length > shown.length ? html`<p>The first ${plural(shown.length, 'call back')}; results have them all</p>` : null,
          ),
    ],
  };
}

function noCallbacks(): Html {
  return html`<div class="pad-all">
    ${empty('Nobody is to be called back', 'Whoever asks for it in a call stands here, by their clock and yours. On the page of a person you promise it yourself.')}
  </div>`;
}

function keyOf({ row, madeAt }: Callback): string {
  return `callback-${row}-${madeAt}`;
}

const stateStyles: Readonly<Record<Callback['state'], readonly [Tone, IconName]>> = {
  open: ['live', 'clock'],
  unclear: ['wait', 'person'],
  kept: ['good', 'check'],
  late: ['wait', 'clock'],
  missed: ['bad', 'alert'],
  cancelled: ['quiet', 'x'],
};

function cellsOf(
  request: ViewRequest,
  { campaignId, callback, mayAct }: { campaignId: string; callback: Callback; mayAct: boolean },
): Record<string, HtmlValue> {
  const { row, externalId, state, dueAt, isOverdue, reason, said, fromAttempt, madeBy } = callback;
  const [tone, drawing] = isOverdue ? (['bad', 'alert'] as const) : stateStyles[state];
  const nth = Number(fromAttempt?.split('/').at(-1));
  return {
    Person: two(
      link(rowPath(campaignId, row), personName(row, externalId)),
      madeBy === null ? 'Asked for it' : `Promised by ${printable(madeBy)}`,
    ),
    'Their clock': dueAt === null ? muted('–') : localTimeText(callback),
    'Your clock': dueAt === null ? muted('–') : instant(dueAt, request.clock.sandbox ? 'full' : 'minute'),
    State: two(
      badge(tone, isOverdue ? 'Overdue' : capital(state), drawing),
      reason === null || state === 'open' ? null : capital(reasonText(reason)),
    ),
    'What they said':
      said === null || !may(request, 'operate')
        ? muted('–')
        : two(html`<q>${printable(said)}</q>`, Number.isInteger(nth) ? link(callPath(campaignId, row, nth), 'The call') : null),
    ...(mayAct ? { '': actsOf(campaignId, callback) } : {}),
  };
}

function actsOf(campaignId: string, { row, state }: Callback): HtmlValue {
  const set = linkButton(rowPath(campaignId, row, '/callback'), state === 'open' ? 'Move…' : 'Say when…', 'sm');
  if (state === 'open' || state === 'unclear') return [set, ' ', linkButton(rowPath(campaignId, row, '/cancel-callback'), 'Cancel…', 'sm')];
  return state === 'missed' ? set : null;
}
