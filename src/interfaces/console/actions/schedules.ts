import { requireSchedule, type ScheduleView } from '../../../operations/control/schedules/view.ts';
import { figure, instant } from '../../../presentation/html/elements.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { firingText } from '../../../presentation/words/callbacks.ts';
import { clockChangeLines, recurrenceText, zoneText } from '../../../presentation/words/recurrence.ts';
import { printable } from '../../../shared/input/printable.ts';
import { operations } from '../../../operations/list.ts';
import { lineField, written } from '../core/fields.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { pressView } from '../core/press.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { ViewRequest } from '../core/view.ts';
import { listSchedules } from '../../../operations/control/schedules/schedules.ts';

export const back = '/schedules';

interface ActionWords {
  button: string;
  effects: readonly Effect[];
  said: (answer: Record<string, unknown>) => string;
  /** States in which there is something to do. */
  fits: readonly ScheduleView['state'][];
  danger?: true;
  /** What stands in the way although the state fits. */
  block?: (view: ScheduleView) => string | null;
}

type Effect = readonly [drawing: IconName, tone: string, text: string];
export const goesOn = 'Campaigns that it has started continue.';

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
      `has its last run in campaign ${String(campaignId)}, which ${continuedWords[String(result)] ?? 'goes on'}.`,
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
    danger: true,
  },
};

const continuedWords: Readonly<Record<string, string>> = { ended: 'has ended', attached: 'runs already' };
const noted = ['pause', 'resume'];

/** Pause, resume, start or continue a run, delete: each says what it will do, and to which runs. */
export const scheduleActions: readonly ConsoleAction[] = (Object.keys(actions) as (keyof typeof actions)[]).map((action) => ({
  path: `/schedules/:campaign/${action}`,
  role: operations[`${action}Schedule`].role,
  form: async (request, given) => {
    const { campaignId } = await requireSchedule(request.context, request.params['campaign'] ?? '');
    const { views, why } = await askSchedules(request.context);
    const view = views?.find((each) => each.campaignId === campaignId);
    const { button, effects, danger, fits, block } = actions[action];
    const isFit = view !== undefined && fits.includes(view.state);
    const blocked = isFit ? (block?.(view) ?? null) : null;
    const unfit = blocked ?? why ?? `There is nothing to ${action}: it is ${view?.state ?? 'deleted'}.`;
    return pressView(given, {
      title: `${button}?`,
      section: 'schedules',
      crumbs: [[back, 'Schedules']],
      back: [back, 'the schedules'],
      obstacle: isFit && blocked === null ? null : { why: unfit, status: why === null ? 409 : 503 },
      says: null,
      effects,
      keep: 'Leave it as it is',
      standing: [['Campaign', campaignId], ...(view === undefined ? [] : standing(view))],
      button,
      danger,
      body: noted.includes(action)
        ? lineField(given.fields, { name: 'note', label: 'Reason, kept in Temporal; may be left empty', most: 200 })
        : null,
    });
  },
  call: ({ params, fields }) => ({
    ...apiCall(`${action}Schedule`, params),
    ...(noted.includes(action) ? { body: written(fields, 'note') } : {}),
  }),
  done: ({ params }, { body }) => ({
    to: back,
    said: `The schedule of ${params['campaign'] ?? ''} ${actions[action].said(body)}`,
  }),
}));

export function standing(view: ScheduleView) {
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
    [isRunning ? 'Running now' : 'Last run', last === null ? null : `${last.campaignId}: ${firingText(last)}`],
  ] as const;
}

const connectLimitMs = 1_500;
const answerLimitMs = 2_500;

/** The schedules with what Temporal knows of them, or why that is not known now. */
type AskedSchedules = { views: ScheduleView[]; why: null } | { views: null; why: string };

/**
 * Asks Temporal for all schedules and waits for at most 2.5 s: a page that says what it does not know is better than none. Asked anew each
 * time, so that whoever has paused one sees it paused.
 */
export async function askSchedules(context: ViewRequest['context']): Promise<AskedSchedules> {
  const late = delay(answerLimitMs, null, { ref: false });
  try {
    const views = await Promise.race([readViews(context, Date.now() + answerLimitMs), late]);
    if (views !== null) return { views, why: null };
    return { views, why: `Temporal has not answered within ${answerLimitMs / 1000} s.` };
  } catch (error) {
    context.logger.warn({ name: (error as Error).name }, 'Temporal could not be asked for the schedules');
    const isForeseen = typeof (error as { isBadInput?: unknown }).isBadInput === 'boolean';
    return { views: null, why: isForeseen ? (error as Error).message : 'Temporal does not answer.' };
  }
}

async function readViews(context: ViewRequest['context'], deadline: number): Promise<ScheduleView[]> {
  const { connection } = await context.temporal(connectLimitMs);
  return connection.withDeadline(deadline, () => listSchedules(context));
}
