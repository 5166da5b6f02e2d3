import { count } from '../../../shared/input/figures.ts';
import { note, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { needText } from '../../../presentation/words/needs.ts';
import type { Need } from '../../../ledger/read/campaign-view.ts';
import { campaignPath } from '../core/links.ts';
import type { Proof } from '../../../presentation/report/report-data.ts';
import { printable } from '../../../shared/input/printable.ts';
import { proofWord } from './head.ts';
import { decisionTitle, type Reason } from './standing.ts';

const mostNotes = 3;
const order: readonly Tone[] = ['bad', 'wait', 'quiet', 'live', 'good'];

interface Notes {
  /** The worst note as a link, for layouts with the notes below the figures. */
  brief: Html | null;
  first: Html | null;
  others: readonly Html[];
}

/** At most three notes, the worst first. `mayAct`: shows buttons. */
export function campaignNotes(
  campaignId: string,
  { reason, needs, proof, mayAct }: { reason: Reason | null; needs: readonly Need[]; proof: Proof | null; mayAct: boolean },
): Notes {
  // The reason covers these needs already.
  const isDecision = reason?.at?.[1] === 'Decide';
  const needReasons = needs.flatMap((need) =>
    need.kind === 'paused' || need.kind === 'failed' || (need.kind === 'unresolved' && isDecision) ? [] : [reasonOfNeed(need, campaignId)],
  );
  const broken = proof === null || proof.ok ? [] : [brokenReason(proof, campaignId)];
  const all = [...broken, ...(reason === null ? [] : [reason]), ...needReasons].toSorted(
    (a, b) => order.indexOf(a.tone) - order.indexOf(b.tone),
  );
  const [worst] = all;
  const more = all.length - 1;
  const brief =
    worst === undefined
      ? null
      : html`<p class="note-brief is-${worst.tone}">
          <a href="#note-1">${icon(worst.drawing)} ${worst.title}</a>
          ${more === 0 ? null : html`<a href="#note-2">${more} more</a>`}
        </p>`;
  const [first = null, ...others] = all.slice(0, mostNotes).map(({ at, ...own }, index) => {
    const action = at === undefined || !mayAct ? null : html`<a class="btn sm" href="${at[0]}">${at[1]}</a>`;
    return html`<div id="note-${index + 1}" class="note-place${index === 0 ? ' first' : ''}">${note(own.tone, { ...own, action })}</div>`;
  });
  return { brief, first, others };
}

function brokenReason(proof: Proof, campaignId: string): Reason {
  return {
    tone: 'bad',
    drawing: 'shield',
    title: proofWord(proof),
    short: proofWord(proof),
    body: html`<p>${printable(proof.violations[0]?.what ?? '')}</p>`,
    at: [campaignPath(campaignId, '/results'), 'See the report'],
  };
}

const drawings: Partial<Record<Need['kind'], IconName>> = {
  unresolved: 'person',
  callbacks: 'clock',
  hook_silent: 'hook',
  hook_failed: 'hook',
};

function reasonOfNeed(need: Exclude<Need, { kind: 'failed' | 'paused' }>, campaignId: string): Reason {
  if (need.kind === 'unresolved')
    return {
      tone: 'wait',
      drawing: 'person',
      title: decisionTitle(need.rows),
      short: decisionTitle(need.rows),
      body: html`<p>
        Nobody knows what became of
        ${need.rows === 1 ? 'the call' : 'their calls'}${need.apart === 0 ? '' : ` (${count(need.apart)} with records that may be theirs)`}:
        nobody calls them again before you decide.
      </p>`,
      at: [campaignPath(campaignId, '/unresolved'), 'Decide'],
    };
  const { what, todo } = needText(need);
  const tone = need.kind === 'hook_failed' || need.kind === 'callbacks' ? 'wait' : 'bad';
  const at = need.kind === 'callbacks' ? ({ at: [campaignPath(campaignId, '/callbacks'), 'See them'] } as const) : {};
  return { tone, drawing: drawings[need.kind] ?? 'alert', title: what, short: what, body: html`<p>${todo}</p>`, ...at };
}
