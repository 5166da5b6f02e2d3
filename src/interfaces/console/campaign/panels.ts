import { instant, panel, scrolled, since, type OutcomeTone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { ClockStrip, ClockZone } from '../../../ledger/read/clock-strip.ts';
import { readLiveCalls, type LiveCall } from '../../../ledger/read/live-calls.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import type { LineLimits } from '../../../ledger/limits/line-limits.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { unreachedText, waitingText } from '../../../presentation/words/causes.ts';
import { callsAmong, countCalls, dispositionOf, dispositions, type Disposition } from '../../../rules/disposition.ts';
import { callPath, rowPath, rowsPath } from '../core/links.ts';
import { personName, shownNumber } from '../core/rows.ts';
import { cannotOutcomes, outcomeOf, outcomes } from '../../../rules/outcome.ts';
import { may, type ViewRequest } from '../core/view.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import { linesText } from './standing.ts';
import type { People } from './progress.ts';

const mostCalls = 6;

const states: Readonly<Record<LiveCall['state'], readonly [tone: string, drawing: IconName, words: string]>> = {
  requested: ['', 'clock', 'Sent, no reply yet'],
  unknown: ['is-wait', 'alert', 'Not known if placed'],
  accepted: ['is-live', 'phone', 'Calling'],
  over: ['is-wait', 'clock', 'Ended, result to come'],
};

/** Calls without a result; null if there are none. Counts as the progress above does. */
export async function liveCallsPanel(request: ViewRequest, { campaign, status, limits }: CampaignView): Promise<Html | null> {
  const { context, now } = request;
  const { campaignId, rules } = campaign;
  const total = status.open + status.planned;
  const calls = await readLiveCalls(context.store.db, campaign, { limit: mostCalls, now });
  if (calls.length === 0) return null;
  const isOffered = may(request, 'operate');
  const all = rowsPath(campaignId, { state: 'open' });
  return panel(
    'Calls right now',
    html`${scrolled('Calls without a result, the longest first', {
        kind: 'live-calls',
        by: 'live',
        heads: [
          'Person',
          'Number',
          html`<th scope="col" class="skip-narrow">Attempt</th>`,
          'Status',
          html`<th scope="col" class="r">Lasts</th>`,
        ],
        lines: calls.map(({ row, externalId, attempt, e164, state, since: at }) => {
          const [tone, drawing, words] = states[state];
          const nth = `${attempt} of ${rules.retry.maxAttempts}`;
          return html`<tr id="live-${row}" class="go">
            <th scope="row"><a href="${rowPath(campaignId, row)}">${personName(row, externalId)}</a></th>
            <td class="nowrap">${shownNumber(request, campaignId, e164)}</td>
            <td class="skip-narrow nowrap">${isOffered ? html`<a href="${callPath(campaignId, row, attempt)}">${nth}</a>` : nth}</td>
            <td>
              <span class="state plain ${tone}">${icon(drawing, state === 'accepted' ? 'pulse' : '')} ${words}</span>
            </td>
            <td class="r">${since(at, now)}</td>
          </tr>`;
        }),
      })}
      <footer>
        <span>${total > calls.length ? plural(total - calls.length, 'more call') : held(limits)}</span>
        <a href="${all}">Show all ${count(total)}</a>
      </footer>`,
    html`<p>${limits === null ? plural(total, 'call') : `${linesText(limits)} in use`}</p>`,
    'live',
  );
}

/** Why it has fewer lines than its own limit. */
function held(limits: LineLimits | null): string | null {
  if (limits === null || limits.allowed >= limits.own) return null;
  const { own, allowed, warm, account } = limits;
  const why =
    warm < own ? 'it is warming up' : account !== null && account.share < own ? 'other campaigns of the account call, too' : 'the service asked for fewer'; // prettier-ignore
  return `${count(allowed)} of ${count(own)} lines allowed now: ${why}`;
}

const mostZones = 6;
const hourMs = 3_600_000;

/** Calling hours of waiting recipients by zone, for one coming day of the viewer's clock. */
export function hoursPanel(strip: ClockStrip, now: number): Html | null {
  if (strip.zones.length === 0) return null;
  const { ahead } = strip;
  const x = (at: number): number => (24 * (at - ahead.from)) / (ahead.to - ahead.from);
  const rows = strip.zones.map((zone) => zoneRow(zone, { x, now }));
  const [first, rest] = [rows.slice(0, mostZones), rows.slice(mostZones)];
  const ticks = [0, 4, 8, 12, 16, 20, 24].map((hours) => instant(ahead.from + hours * hourMs, 'clock'));
  const axis = html`<li class="axis" aria-hidden="true"><div>${ticks.map((tick) => html`<span>${tick}</span>`)}</div></li>`;
  return panel(
    'Calling hours',
    html`<ul class="zones">
        ${first}${axis}
      </ul>
      ${
        rest.length === 0
          ? null
          : html`<details id="more-zones">
              <summary>${plural(rest.length + strip.more, 'more time zone')}</summary>
              <ul class="zones">
                ${rest}
              </ul>
            </details>`
      }
      <footer><span>Solid: open now. Pale: opens later. Grey: the law allows it, this campaign does not.</span></footer>`,
    html`<p>By your clock (<span class="viewer-zone">UTC</span>). Line: now, ${instant(now, 'clock')}</p>`,
    'hours',
  );
}

function zoneRow(zone: ClockZone, { x, now }: { x: (at: number) => number; now: number }): Html {
  const { open, lawful } = zone.ahead;
  const name = (zone.zone.split('/').at(-1) ?? zone.zone).replaceAll('_', ' ');
  const clock = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`;
  const says =
    open.length === 0 ? 'no calls in this day' : `calls ${open.map(({ from, to }) => `from ${clock(from)} to ${clock(to)}`).join(', ')}`;
  const rect = (kind: string, from: number, to: number): Html =>
    html`<rect class="${kind}" x="${x(from).toFixed(2)}" width="${Math.max(0.05, x(to) - x(from)).toFixed(2)}" height="10"></rect>`;
  const isOpen = zone.open > 0;
  const until = !zone.isKnown
    ? 'no such time zone'
    : isOpen
      ? zone.closesAt === null
        ? 'open'
        : html`open until ${instant(zone.closesAt, 'brief')}`
      : zone.opensAt === null
        ? 'does not open again'
        : html`opens ${instant(zone.opensAt, 'brief')}`;
  return html`<li id="zone-${zone.zone.replaceAll(/\W+/g, '-')}" class="${isOpen ? 'is-open' : ''}">
    <span title="${zone.zone}">${name}</span
    ><svg class="plot track" viewBox="0 0 24 10" preserveAspectRatio="none" role="img" aria-label="${name}: ${says}">
      ${lawful.map(({ from, to }) => rect('law', from, to))} ${open.map(({ from, to }) => rect('open', from, to))}
      <rect class="line" x="${x(now).toFixed(2)}" width="0.1" height="10"></rect></svg
    ><span><b class="num">${count(zone.rows)}</b> <small>${until}</small></span>
  </li>`;
}

interface Share {
  tone: OutcomeTone;
  words: string;
  people: number;
  whole: number;
  path?: string;
}

function breakdown(entries: readonly Share[]): Html {
  return html`<ul class="breakdown">
    ${entries.map(({ tone, words, people, whole, path }) => {
      const part = whole === 0 ? 0 : Math.round((100 * people) / whole);
      const inside = html`<i class="dot ${tone}"></i><span>${words}</span><b class="num">${count(people)}</b
        ><span class="part">${part}%</span
        ><svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class="${tone}" width="${part}" height="10"></rect>
        </svg>`;
      return html`<li>${path === undefined ? html`<div>${inside}</div>` : html`<a href="${path}">${inside}</a>`}</li>`;
    })}
  </ul>`;
}

type Counts = Readonly<Record<string, number>>;

export function outcomesPanel(
  { campaignId }: Campaign,
  { outcomes: counts }: CampaignStatus,
  { whole }: People,
  unreached: Counts,
): Html | null {
  const found = outcomes.filter((outcome) => (counts[outcome] ?? 0) > 0 && outcomeOf[outcome].tone !== 'cannot');
  if (found.length === 0) return null;
  return panel(
    'Outcomes',
    breakdown(
      found.flatMap((outcome) => {
        const line = { tone: outcomeOf[outcome].tone, whole, path: rowsPath(campaignId, { outcome }) };
        const reasons = outcome === 'exhausted' ? Object.entries(unreached) : [];
        if (reasons.length === 0) return [{ ...line, words: outcomeOf[outcome].word, people: counts[outcome] ?? 0 }];
        return reasons.map(([reason, people]) => ({ ...line, words: `${outcomeOf[outcome].word}: ${unreachedText(reason)}`, people }));
      }),
    ),
    html`<p>of ${plural(whole, 'person', 'people')}</p>`,
  );
}

export function endedCallsPanel({ dispositions: counts }: CampaignStatus): Html | null {
  const { calls: all } = countCalls(counts);
  const of = (disposition: Disposition): number => callsAmong(counts)[disposition] ?? 0;
  const found = dispositions.filter((disposition) => of(disposition) > 0);
  if (all === 0) return null;
  return panel(
    'How calls ended',
    breakdown(
      found.map((disposition) => ({
        tone: dispositionOf[disposition].tone ?? 'waiting',
        words: disposition === 'opted_out' ? 'Answered, and opted out' : capital(dispositionOf[disposition].text),
        people: of(disposition),
        whole: all,
      })),
    ),
    html`<p>${plural(all, 'call')}</p>`,
  );
}

const waitDrawings: Readonly<Record<string, IconName>> = {
  due: 'right',
  retry: 'retry',
  outside_hours: 'moon',
  not_before: 'calendar',
  number_busy: 'phone',
  frequency_cap: 'gauge',
  attempt_budget: 'gauge',
};

const waitWords: Readonly<Record<string, string>> = {
  due: 'Their turn',
  retry: 'The next attempt',
  outside_hours: 'Calling hours',
  not_before: 'A date in their row',
  frequency_cap: 'The limit of calls to a number',
  later: 'A later time',
};

export function waitingPanel({ campaignId }: Campaign, groups: readonly WaitingGroup[]): Html | null {
  const all = groups.reduce((sum, { rows }) => sum + rows, 0);
  if (all === 0) return null;
  const small = ({ rule, from, to }: WaitingGroup): HtmlValue => {
    if (rule === 'due') return 'next in line';
    return from === to ? instant(from, 'minute') : html`first ${instant(from, 'minute')}, last ${instant(to, 'minute')}`;
  };
  return panel(
    'Waiting for',
    html`<ul class="breakdown flat">
      ${groups.map(
        (group) =>
          html`<li id="waiting-${group.rule}">
            <a href="${rowsPath(campaignId, { waiting: group.rule })}"
              >${icon(waitDrawings[group.rule] ?? 'clock')}<span>${waitWords[group.rule] ?? capital(waitingText(group.rule))}</span
              ><b class="num">${count(group.rows)}</b><small>${small(group)}</small></a
            >
          </li>`,
      )}
    </ul>`,
    html`<p>${plural(all, 'person', 'people')}</p>`,
  );
}

export function cannotPanel({ campaignId, state }: Campaign, { outcomes: counts }: CampaignStatus, mayUpdate: boolean): Html | null {
  const found = cannotOutcomes.filter((outcome) => (counts[outcome] ?? 0) > 0);
  if (found.length === 0) return null;
  const words: Partial<Record<string, string>> = {
    rejected: 'Error in the row',
    undialable: 'No way to call them',
    suppressed: 'On the do-not-call list',
  };
  const all = found.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
  const canChange = mayUpdate && ['scheduled', 'running', 'paused'].includes(state);
  return panel(
    'Cannot be called',
    html`<ul class="breakdown flat">
        ${found.map(
          (outcome) =>
            html`<li>
              <a href="${rowsPath(campaignId, { outcome })}"
                ><i class="dot cannot"></i><span>${words[outcome]}</span><b class="num">${count(counts[outcome] ?? 0)}</b></a
              >
            </li>`,
        )}
      </ul>
      ${canChange ? html`<footer><a href="/campaigns/${encodeURIComponent(campaignId)}/update">Send a corrected list</a></footer>` : null}`,
    html`<p>${plural(all, 'person', 'people')}, not counted as progress</p>`,
    'cannot',
  );
}
