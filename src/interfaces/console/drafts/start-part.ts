import { awaitsFirst, type CheckResult } from '../../../operations/control/check/check.ts';
import { draftPath } from '../core/drafts.ts';
import { instant, link } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { shortfallText } from '../../../campaign/preflight/start-time.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import { lawSentences } from '../../../presentation/words/law.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { DraftForecast, ForecastResult } from './outlook.ts';
import { labelOf } from './parts.ts';
import { partOf } from './reading.ts';
import { rehearsalLine } from './rehearsal-view.ts';
import type { Rehearsal } from './rehearsals.ts';
import type { FieldProblem, OpenDraft } from './draft-types.ts';

interface Ready {
  drawing: IconName;
  tone: '' | 'is-wait' | 'is-bad';
  what: HtmlValue;
  more?: HtmlValue;
  action?: HtmlValue;
}

export function readyList(
  open: OpenDraft,
  { outlooked, problems, rehearsal }: { outlooked: ForecastResult; problems: readonly FieldProblem[]; rehearsal: Rehearsal | null },
): Html {
  const missing = problems.map(({ field, message }): Ready => {
    const what = html`${labelOf(field)}: ${printable(message)}`;
    return { drawing: 'stop', tone: 'is-bad', what, action: link(`#part-${partOf(field)}`, 'Change') };
  });
  const found = outlooked.kind === 'found' ? [...goodNews(outlooked.found, problems), ...findIssues(outlooked.found)] : [];
  const rehearsed = rehearsalLine(open, rehearsal);
  const line: Ready[] = rehearsed === null ? [] : [{ drawing: 'flask', tone: '', ...rehearsed }];
  return html`<ul class="ready" id="ready">
    ${[...missing, ...found, ...line].map(
      ({ drawing, tone, what, more = null, action = null }: Ready) =>
        html`<li class="${tone}">
          ${icon(drawing)}<span>${what} ${more === null ? null : html`<p class="lines">${more}</p>`}</span><span>${action}</span>
        </li>`,
    )}
  </ul>`;
}

function goodNews({ report, rules }: DraftForecast, problems: readonly FieldProblem[]): Ready[] {
  const { service, dialable, start } = report;
  const hasAgentAndNumber = !problems.some(({ field }) => field === 'agent_id' || field === 'from_phone_number_id');
  const isReady = hasAgentAndNumber && service.asked && service.refusal === null;
  return [
    ...(isReady ? [{ drawing: 'done', tone: '', what: 'Agent and caller number are ready at the service' } as const] : []),
    ...(awaitsFirst(rules, report)
      ? [{ drawing: 'done', tone: '', what: 'The list is empty: it waits for people who are added' } as const]
      : []),
    ...(dialable === 0
      ? []
      : [{ drawing: 'done', tone: '', what: `${count(dialable)} people can be called, ${count(start.open)} of them right away` } as const]),
  ];
}

export function findIssues(found: DraftForecast): Ready[] {
  const { report, obstacle, unstartable, warnings, listNotes } = found;
  const { service, rejected, dialable, forecast, law } = report;
  const bad = (what: HtmlValue, more?: HtmlValue): Ready => ({
    drawing: 'stop',
    tone: 'is-bad',
    what,
    ...(more === undefined ? {} : { more }),
  });
  const know = (what: string): Ready => ({ drawing: 'alert', tone: 'is-wait', what: printable(capital(what)) });
  const short = forecast === null ? null : shortfallText(found.rules, forecast);
  return [
    ...(unstartable === null ? [] : [bad('It cannot start', unstartable)]),
    ...(unstartable === null && obstacle !== null ? [bad('It cannot start', `${capital(obstacle)}.`)] : []),
    ...(dialable === 0 && !awaitsFirst(found.rules, report) && unstartable === null && obstacle === null ? [bad('Nobody would be called')] : []),
    ...(service.asked && service.refusal !== null && !isStandIn(found) ? [bad('The service would refuse its calls', printable(service.refusal))] : []),
    ...(service.asked ? [] : [know(`The service was not asked about agent and caller number: ${service.reason}`)]),
    ...(rejected === 0
      ? []
      : [
          {
            drawing: 'alert',
            tone: 'is-wait',
            what: `${plural(rejected, 'row')} ${rejected === 1 ? 'is' : 'are'} left out`,
            more: 'They end as “cannot be called” and stand in the results.',
            action: html`<a class="btn sm" href="#fixes">Fix</a>`,
          } as const,
        ]),
    ...(short === null ? [] : [know(short)]),
    ...warnings.map(know),
    ...lawSentences(law).map(know),
    ...listNotes.map(know),
  ]; // prettier-ignore
}

/** Whether agent or number are not chosen yet: nothing is known of the service then. */
function isStandIn({ rules }: Pick<CheckResult, 'rules'>): boolean {
  return rules.agentId === 'agent' || rules.callers.numbers.includes('number');
}

/** The one filled button of the page, and the one for a rehearsal. */
export function startActions(
  { draft, fields }: OpenDraft,
  { outlooked, isRehearsable, key }: { outlooked: ForecastResult; isRehearsable: boolean; key: string },
): Html {
  const found = outlooked.kind === 'found' ? outlooked.found : null;
  const people = found?.report.dialable ?? 0;
  const path = (more: string) => draftPath(draft.draftId, more);
  const from = found === null || found.rules.startsAt === null ? null : html` from ${instant(found.rules.startsAt, 'minute')} on`;
  const isPartial = found?.report.forecast?.canFinish === false;
  return html`<form id="start" class="stack" method="post" action="${path('/start')}">
    <input type="hidden" name="key" value="${key}" />
    <input type="hidden" name="campaign" value="${fields['id'] ?? ''}" />
    ${
      isPartial
        ? html`<label class="outcome"
            ><input type="checkbox" name="allow_partial" value="yes" required /> Start even if not everyone can be called before the
            end</label
          >`
        : null
    }
    <div class="actions">
      <button class="btn primary">
        ${icon('play')} Start calling${people === 0 ? null : ` ${plural(people, 'person', 'people')}`}${from}
      </button>
      ${
        isRehearsable
          ? html`<button class="btn" formaction="${path('/rehearsal')}" formnovalidate>${icon('flask')} Rehearse</button>`
          : null
      }
      <span class="soft small">You can pause or cancel at any time.</span>
    </div>
  </form>`;
}
