import { z } from 'zod';
import { callsAmong } from '../../../rules/disposition.ts';
import { facts, figure, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import { inCampaign } from '../core/rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { View } from '../core/view.ts';
import { editionOf, mostRehearsedRows, type Rehearsal } from './rehearsals.ts';
import type { OpenDraft } from './settings.ts';
import { stepView, stepPath } from './steps.ts';

const at = z
  .string()
  .transform((text) => Date.parse(text))
  .nullable();
const course = z.object({ endsAt: at, calls: z.number() });
const counts = z.record(z.string(), z.number());

/** What is shown of the report of `carillon rehearse --json`. */
const report = z.object({
  ok: z.boolean(),
  faults: z.array(z.string()),
  rows: z.object({ inList: z.number(), rehearsed: z.number() }),
  notes: z.array(z.string()),
  outcomes: counts,
  dispositions: counts,
  timeline: z.object({ firstCallAt: at, lastCallAt: at, endedAt: at }),
  forecast: z.object({ earliest: course, likely: course, slowest: course, rehearsed: course }).nullable(),
  verify: z.object({ ok: z.boolean() }),
  conduct: z.object({ ok: z.boolean() }),
});

/** How the rehearsal of a draft goes, or went. */
export function rehearsalView(open: OpenDraft, rehearsal: Rehearsal | null): View {
  const check = stepPath(open.draft.draftId, 'check');
  if (rehearsal === null)
    return stepView(open, 'check', panel('Rehearsal', html`<p>Nothing has been rehearsed. ${link(check, 'Check')}</p>`));
  const { ended } = rehearsal;
  if (ended === null) {
    const view = stepView(open, 'check', panel('Rehearsal', [underWay(rehearsal), stopForm(open)]));
    return { ...view, againMs: 2_000 };
  }
  const isOld = rehearsal.of !== editionOf(open);
  const again = html`<div class="between">${rehearseForm(open)} ${link(check, 'Back to check and start')}</div>`;
  return stepView(open, 'check', [
    isOld ? html`<p class="notice">The draft has been changed since. This was rehearsed before.</p>` : null,
    endedPanels(ended),
    again,
  ]);
}

function endedPanels(ended: object | string): HtmlValue {
  const found = report.safeParse(ended);
  return found.success
    ? reportPanels(found.data)
    : panel('No rehearsal', html`<p class="lines">${printableLines(typeof ended === 'string' ? ended : '')}</p>`);
}

/** The rehearsal of a campaign before it was started. */
export function campaignRehearsalView(campaign: Pick<Campaign, 'campaignId' | 'name'>, rehearsal: Rehearsal | null): View {
  const isUnderWay = rehearsal !== null && rehearsal.ended === null;
  return {
    title: `Rehearsal of ${campaign.campaignId}`,
    ...inCampaign(campaign),
    body:
      rehearsal === null
        ? panel('Rehearsal', html`<p>It was not rehearsed on the page before it was started.</p>`)
        : rehearsal.ended === null
          ? panel('Rehearsal', underWay(rehearsal))
          : endedPanels(rehearsal.ended),
    ...(isUnderWay ? { againMs: 2_000 } : {}),
  }; // prettier-ignore
}

/** On the step from which it is begun: the last one, if there was any, and the button for another. */
export function rehearsalPanel(open: OpenDraft, rehearsal: Rehearsal | null): Html {
  if (rehearsal === null) return panel('Rehearse it first', rehearseForm(open));
  const { ended } = rehearsal;
  const found = report.safeParse(ended);
  const said =
    ended === null ? 'It is being rehearsed.'
    : !found.success ? 'The rehearsal has no report.'
    : found.data.ok ? 'The campaign went as it should.'
    : 'Not as it should be.'; // prettier-ignore
  const isOld = rehearsal.of !== editionOf(open);
  return panel('Rehearsal', [
    html`<p>
      ${said} ${isOld ? 'The draft has been changed since.' : null}
      ${link(rehearsalPath(open.draft.draftId), ended === null ? 'See how far it is' : 'See the rehearsal')}
    </p>`,
    ended === null ? null : rehearseForm(open),
  ]);
}

/** The button that begins one, and what it does. */
function rehearseForm({ draft }: OpenDraft): Html {
  return html`<form class="act" method="post" action="${rehearsalPath(draft.draftId)}">
    <p>
      The whole campaign runs on a sandbox of its own on the machine that serves this page, days in minutes, with at most
      ${figure(mostRehearsedRows)} rows under fictional numbers. Nobody is called.
    </p>
    <p class="actions"><button class="btn">Rehearse it</button></p>
  </form>`;
}

export function rehearsalPath(draftId: string): string {
  return `/new/${encodeURIComponent(draftId)}/rehearsal`;
}

function underWay({ line }: Rehearsal): HtmlValue {
  return [
    html`<p class="why">It is being rehearsed. Nobody is called.</p>`,
    html`<p class="soft" id="rehearsal-line">${line === null ? 'Temporal, sandbox, database and worker begin …' : printable(line)}</p>`,
  ];
}

function stopForm({ draft }: OpenDraft): Html {
  return html`<form class="act" method="post" action="${rehearsalPath(draft.draftId)}">
    <input type="hidden" name="stop" value="yes" />
    <p class="actions"><button class="btn danger">Stop the rehearsal</button></p>
  </form>`;
}

function reportPanels({ ok, faults, rows, notes, outcomes, dispositions, ...found }: z.output<typeof report>): HtmlValue {
  const { timeline, forecast, verify, conduct } = found;
  const kept = (isKept: boolean): string => (isKept ? 'every promise was kept' : 'promises were broken');
  return [
    panel('Rehearsal', [
      html`<p class="why">${ok ? 'The campaign went as it should.' : `Not as it should be: ${faults.map(printable).join('; ')}.`}</p>`,
      facts([
        ['Rows', `${rows.rehearsed.toLocaleString('en')} of ${rows.inList.toLocaleString('en')}`],
        ['First call', instant(timeline.firstCallAt, 'minute')],
        ['Last call', instant(timeline.lastCallAt, 'minute')],
        ['Ended', instant(timeline.endedAt, 'minute')],
        ['By the event log', kept(verify.ok)],
        ['By the service', kept(conduct.ok)],
      ]),
    ]),
    panel('What came of it', [countTable('Rows by outcome', outcomes), countTable('Calls by result', callsAmong(dispositions))]),
    forecast === null
      ? null
      : panel(
          'Forecast, and what happened',
          table(
            'Ends and calls, as forecast and as rehearsed',
            (['earliest', 'likely', 'slowest', 'rehearsed'] as const).map((name) => ({
              key: `rehearsal-${name}`,
              cells: {
                Course: name,
                Ends: instant(forecast[name].endsAt, 'minute'),
                Calls: figure(forecast[name].calls),
              },
            })),
          ),
        ),
    panel(
      'What a rehearsal is not',
      html`<ul class="points">
        ${['the people are drawn at random, so real shares of answered calls differ', ...notes].map(
          (note) => html`<li>${printable(`${note.slice(0, 1).toUpperCase()}${note.slice(1)}`)}.</li>`,
        )}
      </ul>`,
    ),
  ];
}

function countTable(caption: string, values: Readonly<Record<string, number>>): HtmlValue {
  return table(
    caption,
    Object.entries(values)
      .filter(([, value]) => value > 0)
      .map(([name, value]) => ({
        key: `rehearsed-${name}`,
        cells: { [caption]: name.replaceAll('_', ' '), Number: figure(value) },
      })),
  );
}
