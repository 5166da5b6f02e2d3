import { hasEnded } from '../../../rules/lifecycle.ts';
import { countCalls } from '../../../rules/disposition.ts';
import { badge, instant } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { capital, count, span } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { CampaignBrief, LastActs } from '../../../ledger/read/campaign-view.ts';
import type { Why } from '../../../presentation/words/why.ts';
import { draftPath, type ListedDraft } from '../core/drafts.ts';
import { campaignPath } from '../core/links.ts';
import { campaignName } from '../core/rows.ts';
import type { ViewRequest } from '../core/view.ts';
import type { ConsoleForecast } from '../../../operations/control/aside/forecast.ts';
import { peopleBar, peopleOf } from './progress.ts';
import { isCalling, reasonOf, statusBadge } from './standing.ts';

interface Listed extends Pick<CampaignBrief, 'campaign' | 'status' | 'needs'> {
  why: Why;
  acts: LastActs;
  /** Undefined: still being read. */
  forecast?: ConsoleForecast;
}

export function campaignRow({ clock, context, now }: Pick<ViewRequest, 'clock' | 'context' | 'now'>, listed: Listed): Html {
  const { campaign, status, needs, why, acts } = listed;
  const { campaignId } = campaign;
  const people = peopleOf(status);
  // A call with a pending result may have freed its line.
  const most = campaign.rules.pacing.maxConcurrentCalls;
  const at = { clock, now: context.now(), serviceNow: now };
  const reason = reasonOf(why, { status, acts, at });
  const { calls, answered } = countCalls(status.dispositions);
  const goesOn = ['scheduled', 'running', 'paused', 'draining'].includes(campaign.state);
  const [first, second] = endOf(listed);
  const decisions = needs.find((need) => need.kind === 'unresolved');
  const problems = needs.filter((need) => need.kind !== 'unresolved').length;
  return html`<tr class="go" id="campaign-${campaignId}">
    <th scope="row">
      <span class="two named"
        ><a href="${campaignPath(campaignId)}">${campaignName(campaign)}</a
        >${campaign.name === null ? null : html`<small class="mono">${campaignId}</small>`}</span
      >
    </th>
    <td>
      <span class="two"><span>${statusBadge(why, status, at)}</span>${nowLine(listed, reason)}</span>
    </td>
    <td class="wide">
      <div class="barcell">
        ${peopleBar(people)}<span
          ><b>${count(people.done)} of ${count(people.whole)}</b>${people.percent === null ? '–' : `${people.percent}%`}</span
        >
      </div>
    </td>
    <td class="r" data-label="Answered">${calls === 0 ? '–' : `${Math.round((100 * answered) / calls)}%`}</td>
    <td class="r" data-label="Lines">${goesOn ? `${count(Math.min(status.open + status.planned, most))} of ${count(most)}` : '–'}</td>
    <td data-label="Ends">
      <span class="two cap"><span>${first}</span>${second === null ? null : html`<small>${second}</small>`}</span>
    </td>
    <td class="r">
      ${
        problems > 0
          ? needLink(campaignPath(campaignId), 'bad', problems === 1 ? '1 problem' : `${problems} problems`)
          : decisions === undefined
            ? null
            : needLink(
                campaignPath(campaignId, '/unresolved'),
                'wait',
                decisions.rows === 1 ? '1 decision' : `${count(decisions.rows)} decisions`,
              )
      }
    </td>
  </tr>`;
}

const dayMs = 24 * 3_600_000;

/** Row of a draft. `now`: real time. */
export function draftRow({ draftId, name, id, list, lastsUntilReal }: ListedDraft, now: number): Html {
  const days = Math.max(1, Math.ceil((lastsUntilReal - now) / dayMs));
  return html`<tr class="go" id="draft-${draftId}">
    <th scope="row">
      <span class="two named"
        ><a href="${draftPath(draftId)}">${printable(name)}</a
        >${id === '' || id === name ? null : html`<small class="mono">${printable(id)}</small>`}</span
      >
    </th>
    <td>
      <span class="two"
        ><span>${badge('quiet', 'Draft', 'pencil')}</span
        ><small class="now">${icon('file')} <span>${printable(list.name)}</span></small></span
      >
    </td>
    <td class="wide soft">Nobody is called yet</td>
    <td class="r" data-label="Answered">–</td>
    <td class="r" data-label="Lines">–</td>
    <td data-label="Ends">
      <span class="two"><span>–</span><small>deleted in ${days === 1 ? '1 day' : `${days} days`} unless you go on</small></span>
    </td>
    <td class="r"></td>
  </tr>`;
}

function needLink(path: string, tone: 'bad' | 'wait', text: string): Html {
  return html`<a class="state is-${tone}" href="${path}">${icon('person')} ${text}</a>`;
}

function nowLine({ campaign, status, why, acts }: Listed, reason: ReturnType<typeof reasonOf>): Html {
  const line = (drawing: IconName, text: HtmlValue, tone = ''): Html =>
    html`<small class="now ${tone}">${icon(drawing)} <span>${text}</span></small>`;
  if (reason !== null) return line(reason.drawing, reason.short, reason.tone === 'bad' ? 'is-bad' : '');
  if (why.look === undefined && campaign.state === 'running' && status.open === 0) return line('clock', 'being looked up');
  const calling = status.open + status.planned;
  if (isCalling(why, status))
    return line(
      'people',
      calling === 0 ? 'The next call is about to be placed' : `Calling ${count(calling)} ${calling === 1 ? 'person' : 'people'}`,
    );
  if (campaign.state === 'draining')
    return line('phone', status.open === 0 ? 'Last results are to come' : `Last ${count(status.open)} calls end`);
  if (campaign.state === 'cancelled' && acts.acted?.action === 'cancel')
    return line('person', `${capital(printable(acts.acted.name))} cancelled it`);
  if (hasEnded(campaign)) return line('clock', acts.changed === null ? 'Ended' : ['Ended ', instant(acts.changed.at, 'brief')]);
  return line('clock', campaign.state === 'importing' ? 'The list is being read in' : 'Nobody is due now');
}

function endOf({ campaign, acts, forecast }: Listed): [HtmlValue, HtmlValue] {
  const { rules, state, dialsSince } = campaign;
  if (hasEnded(campaign)) {
    const at = acts.changed?.at ?? null;
    return at === null ? ['–', null] : [instant(at, 'minute'), dialsSince > 0 && at > dialsSince ? `took ${span(at - dialsSince)}` : null];
  }
  if (state === 'draining') return ['With the last call', 'no new calls'];
  const limit = rules.endsAt === null ? null : html`limit ${instant(rules.endsAt, 'brief')}`;
  const ends = forecast?.ends ?? null;
  if (ends === null || state === 'draft' || state === 'importing') return ['–', limit];
  const { likely, slowest } = ends;
  if (state === 'paused') return ['When resumed', limit];
  const isCut = likely.neverCalled + likely.cutShort > 0 && rules.endsAt !== null;
  if (isCut) return [instant(rules.endsAt, 'minute'), 'at its limit'];
  const latest =
    slowest.neverCalled + slowest.cutShort > 0 && rules.endsAt !== null ? rules.endsAt : slowest.endless ? null : slowest.finishesAt;
  return [
    likely.endless || likely.finishesAt === null ? 'Not known' : instant(likely.finishesAt, 'minute'),
    latest === null ? limit : html`latest ${instant(latest, 'brief')}`,
  ];
}
