import type { Answer } from '../../../operations/list.ts';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { requireSchedule, type ScheduleView } from '../../../operations/control/schedules/view.ts';
import { listSchedules } from '../../../operations/control/schedules/schedules.ts';
import { facts, figure, instant } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { scheduledRunText } from '../../../presentation/words/callbacks.ts';
import { clockChangeLines, recurrenceText, zoneText } from '../../../presentation/words/recurrence.ts';
import { printable } from '../../../shared/input/printable.ts';
import { localMinute } from '../../../shared/input/times.ts';
import type { ConsoleAction } from '../core/action.ts';
import { checkboxes, lineField, written } from '../core/fields.ts';
import type { Effect } from '../core/press.ts';
import type { ViewRequest } from '../core/view.ts';

const to = '/schedules';
const place = { section: 'schedules', crumbs: [[to, 'Schedules']], back: [to, 'the schedules'] } as const;
const goesOn = 'Campaigns that it has started continue.';

interface ActionWords {
  button: string;
  effects: readonly Effect[];
  said: (answer: Record<string, unknown>) => string;
  fits: readonly ScheduleView['state'][];
  block?: (view: ScheduleView) => string | null;
}

const actions: Readonly<Record<'pause' | 'resume' | 'trigger' | 'continue' | 'delete', ActionWords>> = {
  pause: {
    button: 'Pause this schedule',
    effects: [
      ['pause', 'is-wait', 'It starts no runs until somebody resumes it. Those that it misses are not made up.'],
      ['phone', '', goesOn],
    ],
    said: () => 'is paused: it starts no runs.',
    fits: ['active'],
  },
  resume: {
    button: 'Resume this schedule',
    effects: [['play', '', 'It starts runs again at its times. Each reads the list as it is then; missed runs are not made up.']],
    said: () => 'is active again.',
    fits: ['paused'],
  },
  trigger: {
    button: 'Start a run now',
    effects: [
      ['people', '', 'It reads its list as it is now, and starts a campaign of its own.'],
      ['phone', 'is-wait', 'People are called at once where its calling hours are open.'],
      ['calendar', '', 'The runs that are planned stay.'],
    ],
    said: ({ campaignId }) => `runs now: campaign ${String(campaignId)} begins as soon as a worker has read its list.`,
    fits: ['active', 'paused'],
    block: ({ isRunning, last }) =>
      isRunning ? `The last run has not ended: campaign ${last?.campaignId ?? 'of it'} is ${last?.result ?? 'running'}.` : null,
  },
  continue: {
    button: 'Continue the last run',
    effects: [
      ['retry', '', 'The campaign of the last run goes on, after its workflow was lost or ended by hand.'],
      ['shield', '', 'Nothing that was sent is sent again.'],
    ],
    said: ({ campaignId, result }) =>
      `has its last run in campaign ${String(campaignId)}, which ${continued[String(result)] ?? 'goes on'}.`,
    fits: ['active', 'paused'],
    block: ({ last }) => (last === null ? 'No run has left a campaign that could be continued.' : null),
  },
  delete: {
    button: 'Delete this schedule',
    effects: [
      ['phone', '', `${goesOn} They keep their results.`],
      ['stop', 'is-bad', 'It starts no further runs. This cannot be undone.'],
    ],
    said: () => 'is deleted.',
    fits: ['active', 'paused', 'missing'],
  },
};

const continued: Readonly<Record<string, string>> = { ended: 'has ended', attached: 'runs already' };

async function askSchedule({ context, params }: ViewRequest) {
  const { campaignId } = await requireSchedule(context, params['campaign'] ?? '');
  const { views, why } = await askSchedules(context);
  return { campaignId, view: views?.find((each) => each.campaignId === campaignId), why };
}

/** Each form shows its effect. */
const plainActions = (Object.keys(actions) as (keyof typeof actions)[]).map((action): ConsoleAction => {
  const { button, effects, fits, block, said } = actions[action];
  const isNoted = action === 'pause' || action === 'resume';
  return {
    path: `/schedules/:campaign/${action}`,
    op: `${action}Schedule`,
    form: async (request, { fields }) => {
      const { campaignId, view, why } = await askSchedule(request);
      const isFit = view !== undefined && fits.includes(view.state);
      const unfit = why ?? `There is nothing to ${action}: it is ${view?.state ?? 'deleted'}.`;
      const blocked = isFit ? (block?.(view) ?? null) : unfit;
      return {
        ...place,
        title: `${button}?`,
        obstacle: blocked === null ? null : { why: blocked, status: why === null ? 409 : 503 },
        effects,
        keep: 'Leave it as it is',
        standing: [['Campaign', campaignId], ...scheduleFacts(view)],
        button,
        danger: action === 'delete',
        body: isNoted ? lineField(fields, { name: 'note', label: 'Reason, kept in Temporal; may be left empty', most: 200 }) : null,
      };
    },
    call: ({ fields }) => (isNoted ? { body: written(fields, 'note') } : {}),
    done: ({ campaignId }, answer) => ({ to, said: `The schedule of ${campaignId} ${said(answer)}` }),
  };
});

function scheduleFacts(view: ScheduleView | undefined): (readonly [string, Html | string | null])[] {
  if (view === undefined) return [];
  const { state, note, when, timeZone, list, nextAt, fired, last, isRunning } = view;
  const clocks = clockChangeLines(view, timeZone);
  const [next] = nextAt;
  return [
    ['State', printable(note === null ? state : `${state}: ${note}`)],
    ['Runs', when === null ? null : printable(`${recurrenceText(when)}, ${zoneText(timeZone ?? 'UTC')}`)],
    ['List', printable(list)],
    ['Next run', next === undefined ? null : instant(Date.parse(next), 'full')],
    ['Clock changes', clocks.length === 0 ? null : clocks.join(' ')],
    ['Runs so far', figure(fired)],
    [isRunning ? 'Running now' : 'Last run', last === null ? null : `${last.campaignId}: ${scheduledRunText(last)}`],
  ];
}

const connectLimitMs = 1_500;
const answerLimitMs = 2_500;

/** Schedules as Temporal knows them, or why they are unknown. */
type LoadedSchedules = { views: ScheduleView[]; why: null } | { views: null; why: string };

/** Waits at most 2.5 s: an incomplete page is better than none. Not cached, so a change shows at once. */
export async function askSchedules(context: ViewRequest['context']): Promise<LoadedSchedules> {
  const deadline = Date.now() + answerLimitMs;
  const read = async () => (await context.temporal(connectLimitMs)).connection.withDeadline(deadline, () => listSchedules(context));
  try {
    const views = await Promise.race([read(), delay(answerLimitMs, null, { ref: false })]);
    return views === null ? { views, why: `Temporal has not answered within ${answerLimitMs / 1000} s.` } : { views, why: null };
  } catch (error) {
    context.logger.warn({ name: (error as Error).name }, 'Temporal could not be asked for the schedules');
    const isForeseen = typeof (error as { isBadInput?: unknown }).isBadInput === 'boolean';
    return { views: null, why: isForeseen ? (error as Error).message : 'Temporal does not answer.' };
  }
}

const shownTimes = 5;

/** The first runs are shown before it is created, and again after any change. */
const newSchedule: ConsoleAction = {
  path: '/schedules/new',
  op: 'createSchedule',
  form: (_request, { fields, answer }) => ({
    ...place,
    title: answer === null ? 'Make a schedule' : `Make the schedule of ${String(answer['campaignId'])}?`,
    says:
      answer === null
        ? 'Each run fetches its list anew and starts a campaign of its own, which calls people without anybody looking again. A run is skipped while the campaign of the run before it has not ended. The schedule keeps the campaign file as it is now. An address that contains a key is kept in a variable of the workers: env://CARILLON_URL_NAME.'
        : 'Nothing is made yet. These would be its first runs, by its own time zone and by yours. If you change anything below, they are shown again before the schedule is made.',
    found: answer === null ? null : firstRuns(answer),
    button: answer === null ? 'Show its first runs' : 'Make the schedule',
    body: [
      fields === null || answer === null ? null : html`<input type="hidden" name="seen" value="${hashOf(fields)}" />`,
      fileField(fields, { label: 'Campaign file, as for the command line', rows: 12, required: true }),
      lineField(fields, {
        name: 'list',
        label: 'Address of the list of each run, such as https://lists.example/{{ date }}.csv',
        most: 4096,
        required: true,
      }),
      html`<div class="fields">
        ${timeFields(fields)} ${lineField(fields, { name: 'note', label: 'Note, kept in Temporal', most: 4096 })}
      </div>`,
    ],
  }),
  call: ({ fields }) => ({ ...(isSeen(fields) ? {} : { op: 'previewSchedule' }), body: bodyOf(fields) }),
  done: ({ fields }, { campaignId }) => (isSeen(fields) ? { to, said: `The schedule of ${String(campaignId)} is made.` } : null),
};

const editSchedule: ConsoleAction = {
  path: '/schedules/:campaign/edit',
  op: 'editSchedule',
  form: async (request, given) => {
    const { view, why } = await askSchedule(request);
    const fields = given.fields ?? (view === undefined ? null : writtenOf(view, request.context.now()));
    const missing = 'Temporal does not have this schedule: delete it, or create it again.';
    return {
      ...place,
      title: 'Change this schedule?',
      obstacle: view === undefined || view.state === 'missing' ? { why: why ?? missing, status: why === null ? 409 : 503 } : null,
      effects: [
        ['calendar', '', 'It runs at these times from now on. A pause, its note and the runs so far stay.'],
        ['phone', '', goesOn],
      ],
      keep: 'Leave it as it is',
      standing: scheduleFacts(view),
      button: 'Change the schedule',
      body: html`<div class="fields">${timeFields(fields)}</div>
        ${lineField(fields, { name: 'list', label: 'Another address of the list; empty: it stays', most: 4096 })}
        ${fileField(fields, { label: 'Another campaign file with the same id; empty: it stays', rows: 6, required: false })}`,
    };
  },
  call: ({ fields }) => ({ body: bodyOf(fields) }),
  done: ({ campaignId }, answer) => {
    const [next] = answer['nextAt'] as string[];
    const then = next === undefined ? 'It is paused.' : `Its next run is at ${next.replace('T', ' ').slice(0, 16)} UTC.`;
    return { to, said: `The schedule of ${campaignId} is changed. ${then}` };
  },
};

function fileField(fields: URLSearchParams | null, { label, rows, required }: { label: string; rows: number; required: boolean }): Html {
  return html`<label class="field"
    >${label}
    <textarea name="campaign" rows="${rows}" ${required ? html`required` : null} spellcheck="false" autocomplete="off">
${fields?.get('campaign') ?? ''}</textarea>
  </label>`;
}

/** As form fields; a start in the past becomes empty. */
function writtenOf({ when, timeZone, startAt, endAt, catchUpSeconds, keepSkipped }: ScheduleView, now: number): URLSearchParams {
  const [, every] = /^every (\S+)$/.exec(when ?? '') ?? [];
  return new URLSearchParams({
    ...(every === undefined ? { cron: when ?? '' } : { every }),
    timezone: timeZone ?? 'UTC',
    catchUp: `${catchUpSeconds ?? 600}s`,
    ...(keepSkipped ? { keepSkipped: 'yes' } : {}),
    startAt: startAt !== null && Date.parse(startAt) > now ? startAt : '',
    endAt: endAt ?? '',
  });
}

const times = {
  cron: 'When, in cron: 0 9 * * mon-fri is 9:00 from Monday to Friday',
  every: 'Or an interval, such as 1d or 12h',
  timezone: 'Time zone, such as America/New_York',
  startAt: 'No run before, such as 2030-11-30T09:00; empty: from now on',
  endAt: 'No run after; empty: until it is deleted',
  catchUp: 'A run that is later than this is left out, such as 10m',
} as const;

function timeFields(fields: URLSearchParams | null): Html {
  const lines = Object.entries(times).map(([name, label]) => lineField(fields, { name, label, required: name === 'timezone' }));
  const skipped = { value: 'yes', label: 'Start a run that a clock change skips at the next time that exists' };
  return html`${lines} ${checkboxes(fields, 'keepSkipped', [skipped])}`;
}

function firstRuns(answer: Record<string, unknown>): Html {
  const { campaignId, when, timeZone, list, nextAt, ...clocks } = answer as Answer<'previewSchedule'>;
  const runs = nextAt.slice(0, shownTimes);
  return html`${facts([
      ['Campaign', campaignId],
      ['Runs', printable(`${recurrenceText(when)}, ${zoneText(timeZone)}`)],
      ['Each run reads', printable(list)],
    ])}
    ${clockChangeLines(clocks, timeZone).map((text) => html`<p class="note">${text}</p>`)}
    <ol id="first-runs" class="story">
      ${runs.map((at) => html`<li>${localMinute(at, timeZone)} <span class="soft">${instant(Date.parse(at), 'full')}</span></li>`)}
    </ol>`;
}

function bodyOf(fields: URLSearchParams): Record<string, unknown> {
  const lines = written(fields, 'campaign', 'list', 'note', ...(Object.keys(times) as (keyof typeof times)[]));
  return { ...lines, ...(fields.get('keepSkipped') === 'yes' ? { keepSkipped: true } : {}) };
}

function isSeen(fields: URLSearchParams): boolean {
  return fields.get('seen') === hashOf(fields);
}

function hashOf(fields: URLSearchParams): string {
  return createHash('sha256')
    .update(JSON.stringify(bodyOf(fields)))
    .digest('hex');
}

export const scheduleActions = [newSchedule, editSchedule, ...plainActions];
