import { randomUUID } from 'node:crypto';
import { checkCampaign, refuseUnstartable, type CheckResult, verdictText } from '../../../operations/control/check/check.ts';
import { checkedLedger } from '../../../operations/control/check/ledger.ts';
import { facts, figure, instant, link, muted, panel, table, withInstants } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable, printableLines } from '../../../shared/input/printable.ts';
import { usualAssumptions, type CampaignForecast } from '../../../campaign/preflight/campaign-forecast.ts';
import { shortfallText } from '../../../campaign/preflight/start-time.ts';
import { problemOf } from '../../api/core/problem.ts';
import { callableLines } from '../../../presentation/words/causes.ts';
import { capital } from '../../../shared/input/figures.ts';
import { endText } from '../../../presentation/words/forecast.ts';
import { lawSentences } from '../../../presentation/words/law.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { withDraftFiles } from './content.ts';
import { rehearsalPanel } from './rehearsal-view.ts';
import type { Rehearsals } from './rehearsals.ts';
import { readDraft, type FieldProblem } from './reading.ts';
import { type OpenDraft, findTakenId } from './settings.ts';
import { stepView, formSteps, stepOf, stepPath, steps } from './steps.ts';

/**
 * What the campaign would do, and the button that starts it. `refused`: why it was not started just now, in the API's words. `rehearsals`:
 * where it can be rehearsed.
 */
export async function checkStep(
  { context, now }: Pick<ViewRequest, 'context' | 'now'>,
  open: OpenDraft,
  { refused = null, status = 200, rehearsals }: { refused?: string | null; status?: number; rehearsals: Rehearsals },
): Promise<View> {
  const said = refused === null ? null : html`<p class="refused" role="alert">${refused}</p>`;
  const unsaved = formSteps.filter((step) => !open.done.includes(step));
  const reading = await readDraft(open, now);
  const taken = await findTakenId(context.store, open.fields);
  const problems = [...(reading.ok ? [] : reading.problems), ...taken];
  if (unsaved.length > 0 || problems.length > 0)
    return stepView(open, 'check', [said, panel('Not ready yet', stillOpen(open, unsaved, problems))], status);
  const checked = await checkDraft(context, open);
  if ('refusal' in checked)
    return stepView(open, 'check', [said, panel('Cannot start', html`<p class="lines">${checked.refusal}</p>`)], status);
  const { report } = checked;
  const rehearsal = await rehearsals.of({ draftId: open.draft.draftId });
  return stepView(
    open,
    'check',
    [
      said,
      panel('What would happen', [verdict(checked), startForm(open, checked)]),
      rehearsals.isOffered && report.accepted > 0 ? rehearsalPanel(open, rehearsal) : null,
      panel('Who can be called', callable(checked)),
      lawPanel(checked),
      report.rejections.length === 0 ? null : panel('Rows that cannot be called', rejections(checked)),
      report.forecast === null ? null : panel('When it would end', forecast(checked, report.forecast)),
    ],
    status,
  );
}

/** The same check as that of the command and the API; or why it cannot be made. */
async function checkDraft(
  context: ViewRequest['context'],
  open: OpenDraft,
): Promise<(CheckResult & { unstartable: string | null }) | { refusal: string }> {
  return withDraftFiles(context.store, open, async ({ folder, read }) => {
    const told = (error: unknown): string => {
      const { status, detail } = problemOf(error);
      if (status !== 422) throw error;
      return printableLines(detail.replaceAll(`${folder}/`, ''));
    };
    try {
      const result = await checkCampaign({
        config: context.config,
        now: context.now(),
        file: await read(),
        assumptions: usualAssumptions,
        openLedger: (campaign) => checkedLedger(context, campaign),
      });
      let unstartable: string | null = null;
      try {
        refuseUnstartable(result);
      } catch (error) {
        unstartable = told(error);
      }
      return { ...result, unstartable };
    } catch (error) {
      return { refusal: told(error) };
    }
  });
}

function stillOpen({ draft }: OpenDraft, unsaved: readonly string[], problems: readonly FieldProblem[]): HtmlValue {
  const title = (name: string) => steps.find((step) => step.name === name)?.title ?? name;
  const toSave = formSteps.filter((step) => unsaved.includes(step));
  return [
    toSave.length === 0
      ? null
      : html`<p>
          Look through these steps first:
          ${toSave.map((step, at) => [at === 0 ? '' : ', ', link(stepPath(draft.draftId, step), title(step))])}.
        </p>`,
    problems.length === 0
      ? null
      : html`<ul class="needs">
          ${problems.map(({ field, message }) => {
            const step = stepOf(field) ?? 'calls';
            return html`<li>${link(`${stepPath(draft.draftId, step)}#${field}`, title(step))}, <code>${field}</code>: ${message}</li>`;
          })}
        </ul>`,
  ];
}

function verdict({ report, obstacle, unstartable, warnings, listNotes }: CheckResult & { unstartable: string | null }): HtmlValue {
  const { service } = report;
  const isReady = unstartable === null && obstacle === null && report.accepted > 0;
  return [
    html`<p class="why">${isReady || unstartable === null ? verdictText({ report, obstacle }) : 'Cannot start.'}</p>`,
    unstartable === null ? null : html`<p class="lines">${unstartable}</p>`,
    service.asked
      ? service.refusal === null ? null : html`<p class="entry-problem">${printable(service.refusal)}.</p>`
      : html`<p class="soft">The service was not asked about agent and caller number: ${printable(service.reason)}</p>`,
    warnings.length === 0
      ? null
      : html`<h3>Know before you start</h3>
          <ul class="points">
            ${warnings.map((warning) => html`<li>${printable(warning.slice(0, 1).toUpperCase() + warning.slice(1))}.</li>`)}
          </ul>`,
    listNotes.length === 0 ? null : html`<p class="soft">The list: ${listNotes.map((note) => `${printable(note)}. `)}</p>`,
  ]; // prettier-ignore
}

function startForm(
  { fields }: OpenDraft,
  { report, obstacle, unstartable, canGo, rules }: CheckResult & { unstartable: string | null },
): Html | null {
  const isRefused = report.service.asked && report.service.refusal !== null;
  if (unstartable !== null || obstacle !== null || report.dialable === 0 || isRefused) return null;
  const from = rules.startsAt === null ? 'as soon as hours allow' : html`from ${instant(rules.startsAt, 'full')} on`;
  return html`<form class="act" method="post">
    <input type="hidden" name="key" value="${randomUUID()}" />
    <input type="hidden" name="campaign" value="${fields['id'] ?? ''}" />
    <p>
      <strong>${figure(report.dialable)} people</strong> are called, ${from}: up to ${figure(rules.retry.maxAttempts)} times
      each, at most ${figure(rules.pacing.maxConcurrentCalls)} at the same time. You can pause or end it at any time.
    </p>
    ${canGo
      ? null
      : html`<label class="mark"
          ><input type="checkbox" name="allow_partial" value="yes" required /><span
            >Start even if not everyone can be called before the end.</span
          ></label
        >`}
    <p class="actions"><button class="btn">Start ${fields['id'] ?? ''}</button></p>
  </form>`; // prettier-ignore
}

function callable({ report }: CheckResult): HtmlValue {
  const { nextAt } = report.start;
  return [
    table(
      'From the rows of the list to those who can be called',
      callableLines(report).map(({ key, label, rows, note, isPart }) => ({
        key: `callable-${key}`,
        cells: { Rows: isPart ? `… ${label}` : capital(label), Number: figure(rows), '': note === '' ? null : muted(note) },
      })),
    ),
    nextAt === null ? null : html`<p class="soft">The first of those who wait: ${instant(nextAt, 'full')}</p>`,
  ]; // prettier-ignore
}

function lawPanel({ report }: CheckResult): HtmlValue {
  const sentences = lawSentences(report.law);
  if (sentences.length === 0) return null;
  return panel(
    'The law where they are',
    html`<ul class="points">
      ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
    </ul>`,
  );
}

function rejections({ report }: CheckResult): HtmlValue {
  return table(
    'Rows that cannot be called, with examples',
    report.rejections.map(({ reason, count, examples }) => ({
      key: `rejected-${reason}`,
      cells: {
        Reason: reason.replaceAll('_', ' '),
        Rows: figure(count),
        Examples: html`<ul class="long">
          ${examples.map(
            ({ row, line, column, hint }) =>
              html`<li>Row ${row} (line ${line})${column === null ? '' : `, ${printable(column)}`}: ${printable(hint)}</li>`,
          )}
        </ul>`,
      },
    })),
  );
}

function forecast({ rules }: CheckResult, found: CampaignForecast): HtmlValue {
  const { calls, minutes, earliest, likely, slowest } = found;
  const row = (key: string, what: string, end: HtmlValue, callsOf: number, minutesOf: number) => ({
    key: `forecast-${key}`,
    cells: { Course: what, Ends: end, Calls: figure(callsOf), Minutes: figure(minutesOf) },
  });
  const short = shortfallText(rules, found);
  const slowestMinutes = Math.ceil(slowest.callMs / 60_000);
  return [
    short === null ? null : html`<p class="entry-problem">${short}</p>`,
    facts([['If it starts', instant(found.startsAt, 'full')]]),
    table('When the campaign would end', [
      row('earliest', 'Earliest', withInstants(endText(earliest, rules.endsAt)), calls.fewest, minutes.fewest),
      row('likely', 'Likely', withInstants(endText(likely, rules.endsAt)), calls.likely, minutes.likely),
      row('slowest', 'Slowest', withInstants(endText(slowest, rules.endsAt)), slowest.calls, slowestMinutes),
      row('most', 'At most', '–', calls.most, minutes.most),
    ]),
    html`<p class="soft">
      Likely: ${Math.round(found.assumptions.answerRate * 100)} % answer and talk ${found.assumptions.callMs / 1000} s. The service, other
      campaigns and pauses may slow it down.
    </p>`,
  ];
}
