import { count } from '../../../shared/input/figures.ts';
import type { ScheduleView } from '../../../operations/control/schedules/view.ts';
import {
  badge,
  empty,
  instant,
  link,
  linkButton,
  menu,
  menuLink,
  muted,
  note,
  outcome,
  table,
  two,
  type Row,
  type Tone,
} from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { recurrenceText, zoneText } from '../../../presentation/words/recurrence.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { findCampaign, goingStates } from '../../../ledger/rows/campaigns.ts';
import { listSchedules } from '../../../ledger/campaign/schedules.ts';
import { peopleOf } from '../campaign/progress.ts';
import { askSchedules } from '../actions/schedules.ts';
import { campaignPath, schedulePath } from '../core/links.ts';
import { stateBadge } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const states: Readonly<Record<ScheduleView['state'], readonly [Tone, string, IconName]>> = {
  active: ['good', 'Active', 'check'],
  paused: ['wait', 'Paused', 'pause'],
  missing: ['bad', 'Missing in Temporal', 'alert'],
};

const newPath = '/schedules/new';
const againMs = 10_000;
const shownTimes = 3;

/** Without Temporal, shows what the database knows. */
export async function schedulesView(request: ViewRequest): Promise<View> {
  const stored = await listSchedules(request.context.store.db);
  const { views, why } = stored.length === 0 ? { views: [], why: null } : await askSchedules(request.context);
  const mayCreate = may(request, 'admin');
  const rows: Row[] = [];
  for (const { campaignId } of views === null ? stored : [])
    rows.push({
      key: `schedule-${campaignId}`,
      cells: { Schedule: html`<b class="named">${campaignId}</b>`, 'Next run': muted('not known now') },
    });
  for (const view of views ?? []) rows.push({ key: `schedule-${view.campaignId}`, cells: await cellsOf(request, view) });
  return {
    title: 'Schedules',
    section: 'schedules',
    againMs,
    ...(mayCreate ? { actions: linkButton(newPath, 'New schedule', 'primary', 'plus') } : {}),
    meta: html`<span>Each run is a campaign of its own, with a fresh list.</span>`,
    body: [
      why === null
        ? null
        : note('bad', {
            title: 'Temporal does not answer',
            body: html`<p role="alert">
              ${printable(why)} When the schedules run and whether they are paused is kept there, so it is not shown.
            </p>`,
          }),
      html`<section class="panel" aria-label="All schedules">${table('Schedules', rows, nothing(mayCreate), true)}</section>`,
      note('quiet', {
        drawing: 'info',
        title: 'Lists are fetched when a run starts',
        body: html`<p>
          If a list is missing or empty, nobody is called, and you see it here. A run is skipped while the one before has not ended.
        </p>`,
      }),
    ],
  };
}

function nothing(mayCreate: boolean): Html {
  return html`<div class="pad-all">
    ${empty(
      'No campaign recurs',
      html`${mayCreate ? [link(newPath, 'Make a schedule'), ' whose runs fetch their lists from an address. '] : null}<code
          >carillon schedule create campaign.yaml --every 1d --timezone UTC</code
        >
        makes one on the worker’s machine, where its campaign file and lists lie.`,
    )}
  </div>`;
}

async function cellsOf(request: ViewRequest, view: ScheduleView): Promise<Record<string, HtmlValue>> {
  const { campaignId, list, when, timeZone, note: noteText, state } = view;
  const [tone, word, drawing] = states[state];
  return {
    Schedule: two(html`<b class="named">${campaignId}</b>`, html`<span class="whole">${printable(list)}</span>`),
    State: two(badge(tone, word, drawing), noteText === null ? null : printable(noteText)),
    Runs: when === null ? muted('–') : two(printable(recurrenceText(when)), zoneText(timeZone ?? 'UTC')),
    'Next run': nextRuns(request, view),
    'Last run': await lastRun(request, view),
    ...(may(request, 'operate') ? { '': actionsOf(may(request, 'admin'), view) } : {}),
  };
}

/** In service time; in full if Temporal's clock is another one. */
function timeOf({ clock }: ViewRequest, at: string): Html {
  return instant(Date.parse(at), clock.sandbox ? 'full' : 'minute');
}

function nextRuns(request: ViewRequest, { state, nextAt, campaignId }: ScheduleView): HtmlValue {
  const [next, ...later] = nextAt.slice(0, shownTimes);
  if (next !== undefined) {
    const then = later.map((at, index) => [
      index === 0 ? 'then ' : ', ',
      instant(Date.parse(at), request.clock.sandbox ? 'time' : 'brief'),
    ]);
    return two(timeOf(request, next), later.length === 0 ? null : then);
  }
  if (state === 'paused') return 'When resumed';
  return state === 'missing' ? muted(`none: delete ${campaignId}, or create it again`) : muted('none left');
}

async function lastRun(request: ViewRequest, { last }: ScheduleView): Promise<HtmlValue> {
  if (last === null) return muted('none yet');
  const { campaignId, result, reason, scheduledAt } = last;
  const { db } = request.context.store;
  const campaign = await findCampaign(db, campaignId);
  const at = timeOf(request, scheduledAt);
  if (campaign === undefined) {
    const words = result === 'beginning' ? outcome('waiting', 'Beginning') : outcome('decide', 'Not started');
    return two([words, reason === null ? null : html` <span class="soft whole">${printable(reason)}</span>`], at);
  }
  const people = peopleOf(await readStatus(db, campaign));
  const figures = `${count(people.done)} of ${count(people.whole)} done`;
  return two(link(campaignPath(campaignId), [stateBadge(campaign.state), ` ${figures}`]), at);
}

function actionsOf(mayEdit: boolean, { campaignId, state, isRunning, last }: ScheduleView): Html {
  const to = (action: string): string => schedulePath(campaignId, `/${action}`);
  const isLost = !isRunning && last !== null && (goingStates as readonly string[]).includes(last.result);
  const entries = [
    state !== 'missing' &&
      (isLost
        ? menuLink(to('continue'), 'Continue the last run…', { drawing: 'retry' })
        : menuLink(to('trigger'), 'Run now…', { drawing: 'play', small: 'With the list of now' })),
    state === 'active' && menuLink(to('pause'), 'Pause schedule…', { drawing: 'pause' }),
    state === 'paused' && menuLink(to('resume'), 'Resume schedule…', { drawing: 'play' }),
    state !== 'missing' && mayEdit && menuLink(to('edit'), 'Change…', { drawing: 'pencil', small: 'Times, list, campaign file' }),
    menuLink(to('delete'), 'Delete schedule…', { drawing: 'x', small: 'Its campaigns stay', danger: true }),
  ];
  return menu(
    `Actions for ${campaignId}`,
    entries.filter((entry) => entry !== false),
  );
}
