import type { ScheduleView } from '../../../operations/control/schedules/view.ts';
import { badge, empty, instant, link, muted, panel, table, type Row, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { goingStates } from '../../../ledger/rows/campaigns.ts';
import { listSchedules } from '../../../ledger/campaign/schedules.ts';
import { askSchedules } from '../actions/schedules.ts';
import { campaignPath, schedulePath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const states: Readonly<Record<ScheduleView['state'], readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  paused: ['wait', 'Paused'],
  missing: ['bad', 'Missing in Temporal'],
};

const newPath = '/schedules/new';
const againMs = 10_000;
const shownTimes = 3;
/** Longer ids are broken over lines where it is narrow. */
const longestWhole = 24;

/** Campaigns that recur: when, over which list, and their next runs. While Temporal does not answer, what the database alone knows. */
export async function schedulesView(request: ViewRequest): Promise<View> {
  const stored = await listSchedules(request.context.store.db);
  const { views, why } = stored.length === 0 ? { views: [], why: null } : await askSchedules(request.context);
  const mayChange = may(request, 'operate');
  const mayCreate = may(request, 'admin');
  const rows: Row[] =
    views === null
      ? stored.map(({ campaignId }) => ({
          key: `schedule-${campaignId}`,
          cells: { Campaign: campaignId, 'Next runs': muted('not known now') },
        }))
      : views.map((view) => ({ key: `schedule-${view.campaignId}`, cells: cellsOf(view, mayChange) }));
  return {
    title: 'Schedules',
    section: 'schedules',
    againMs,
    body: panel(
      'Campaigns that recur',
      [
        why === null
          ? null
          : html`<p class="refused" role="alert">
              ${printable(why)} When the schedules run and whether they are paused is kept there, so it is not shown.
            </p>`,
        table(
          'Schedules',
          rows,
          empty(
            'No campaign recurs',
            html`${mayCreate ? [link(newPath, 'Make a schedule'), ' whose runs fetch their lists from an address. '] : null}<code
                >carillon schedule create campaign.yaml --every 1d --timezone UTC</code
              >
              makes one on the worker's machine, where its campaign file and lists lie.`,
          ),
        ),
      ],
      mayCreate ? html`<a class="btn" href="${newPath}">Make a schedule</a>` : html`<p class="aside">Times of Temporal</p>`,
    ),
  };
}

function cellsOf(view: ScheduleView, mayChange: boolean): Record<string, HtmlValue> {
  const { campaignId, list, when, timeZone, note, state } = view;
  const [tone, word] = states[state];
  return {
    Campaign: campaignId.length > longestWhole ? campaignId : html`<span class="word">${campaignId}</span>`,
    State: [badge(tone, word), note === null ? null : html`<p class="soft">${printable(note)}</p>`],
    When: when === null ? muted('–') : html`<div class="long">${printable(when)} <span class="soft">${timeZone}</span></div>`,
    'Next runs': nextRuns(view),
    List: html`<div class="long">${printable(list)}</div>`,
    'Last run': lastRun(view),
    ...(mayChange ? { '': buttons(view) } : {}),
  };
}

function nextRuns({ state, nextAt, campaignId }: ScheduleView): HtmlValue {
  if (nextAt.length > 0) {
    const times = nextAt.slice(0, shownTimes).map((at) => html`<p>${instant(Date.parse(at), 'full')}</p>`);
    return html`<div class="long">${times}</div>`;
  }
  if (state === 'paused') return muted('none until it is resumed');
  return state === 'missing' ? muted(`none: delete ${campaignId}, or create it again`) : muted('none left');
}

function lastRun({ last }: ScheduleView): HtmlValue {
  if (last === null) return muted('none yet');
  const { campaignId, result, reason } = last;
  const name = ['failed', 'beginning', 'gone'].includes(result) ? campaignId : link(campaignPath(campaignId), campaignId);
  return [name, html`<p class="soft">${printable(reason === null ? result : `${result}: ${reason}`)}</p>`];
}

function buttons({ campaignId, state, isRunning, last }: ScheduleView): Html {
  const operation = { active: ['pause', 'Pause …'], paused: ['resume', 'Resume …'], missing: null }[state];
  const isLost = !isRunning && last !== null && (goingStates as readonly string[]).includes(last.result);
  const run = isLost ? ['continue', 'Continue …'] : ['trigger', 'Run now …'];
  const operations = [...(operation === null ? [] : [operation, run]), ['delete', 'Delete …']];
  return html`<span class="choices many">
    ${operations.map(([name, text]) => html`<a class="btn" href="${schedulePath(campaignId, `/${name}`)}">${text}</a> `)}
  </span>`;
}
