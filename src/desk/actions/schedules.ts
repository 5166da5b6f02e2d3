import { requireSchedule } from '../../control/schedules/access.ts';
import type { ScheduleView } from '../../control/schedules/view.ts';
import { facts, figure, instant } from '../../html/elements.ts';
import { html } from '../../html/html.ts';
import { printable } from '../../input/printable.ts';
import { actionForm, apiCall, type DeskAction } from '../core/action.ts';
import { askSchedules } from '../core/asked-schedules.ts';

const back = '/schedules';

interface WishWords {
  button: string;
  says: string;
  said: (answer: Record<string, unknown>) => string;
  /** States in which there is something to do. */
  fits: readonly ScheduleView['state'][];
  danger?: true;
  /** What stands in the way although the state fits. */
  block?: (view: ScheduleView) => string | null;
}

const wishes: Readonly<Record<'pause' | 'resume' | 'trigger' | 'continue' | 'delete', WishWords>> = {
  pause: {
    button: 'Pause this schedule',
    says: 'It starts no runs until it is resumed, and what it misses is not made up. A running campaign continues.',
    said: () => 'is paused: it starts no runs.',
    fits: ['active'],
  },
  resume: {
    button: 'Resume this schedule',
    says: 'It starts runs again, each with the list as it is then. Runs that were missed are not made up.',
    said: () => 'is active again.',
    fits: ['paused'],
  },
  trigger: {
    button: 'Start a run now',
    says:
      'It reads its list as it is now and starts a campaign of its own, which calls people at once where its hours are open. ' +
      'The runs that are planned stay.',
    said: ({ campaignId }) => `runs now: campaign ${String(campaignId)} begins as soon as a worker has read its list.`,
    fits: ['active', 'paused'],
    block: ({ isRunning, last }) =>
      isRunning
        ? `The last run has not ended: campaign ${last?.campaignId ?? 'of it'} is ${last?.result ?? 'running'}.`
        : null,
  },
  continue: {
    button: 'Continue the last run',
    says:
      'Its campaign goes on where it stood after its workflow was lost or ended by hand. Nothing that was sent is sent again. ' +
      'A campaign that runs is left alone.',
    said: ({ campaignId, result }) =>
      `has its last run in campaign ${String(campaignId)}, which ${continuedWords[String(result)] ?? 'goes on'}.`,
    fits: ['active', 'paused'],
    block: ({ last }) => (last === null ? 'No run has left a campaign that could be continued.' : null),
  },
  delete: {
    button: 'Delete this schedule',
    says: 'It starts no further runs. Campaigns that it has started continue, and keep their results. This cannot be undone.',
    said: () => 'is deleted.',
    fits: ['active', 'paused', 'missing'],
    danger: true,
  },
};

const continuedWords: Readonly<Record<string, string>> = { ended: 'has ended', attached: 'runs already' };
const noted = ['pause', 'resume'];

/** Pause, resume, start or continue a run, delete: each says what it will do, and to which runs. */
export const scheduleActions: readonly DeskAction[] = (Object.keys(wishes) as (keyof typeof wishes)[]).map((wish) => ({
  path: `/schedules/:campaign/${wish}`,
  role: 'operate',
  form: async (request, given) => {
    const { campaignId } = await requireSchedule(request.context, request.params['campaign'] ?? '');
    const { views, why } = await askSchedules(request.context);
    const view = views?.find((each) => each.campaignId === campaignId);
    const { button, says, danger, fits, block } = wishes[wish];
    const isFit = view !== undefined && fits.includes(view.state);
    const blocked = isFit ? (block?.(view) ?? null) : null;
    const isOffered = isFit && blocked === null;
    const unfit = blocked ?? why ?? `There is nothing to ${wish}: it is ${view?.state ?? 'deleted'}.`;
    const reason = given.refused ?? (isOffered ? null : unfit);
    return {
      ...(isOffered || given.refused !== null ? {} : { status: why === null ? 409 : 503 }),
      title: `${button}?`,
      section: 'schedules',
      crumbs: [[back, 'Schedules']],
      body: html`<section class="panel">
        ${reason === null ? null : html`<p class="refused" role="alert">${printable(reason)}</p>`}
        ${isOffered ? html`<p>${says}</p>` : null}
        ${facts([['Campaign', campaignId], ...(view === undefined ? [] : standing(view))])}
        ${
          isOffered
            ? actionForm(
                { ...given, refused: null },
                {
                  button,
                  back,
                  ...(danger === undefined ? {} : { tone: 'danger' }),
                  body: !noted.includes(wish)
                    ? null
                    : html`<label class="field"
                        >Reason, kept in Temporal; may be left empty
                        <input
                          name="note"
                          maxlength="200"
                          autocomplete="off"
                          value="${given.fields?.get('note') ?? ''}"
                      /></label>`,
                },
              )
            : html`<p><a href="${back}">Back to the schedules</a></p>`
        }
      </section>`,
    };
  },
  call: ({ params, fields }) => {
    const note = fields.get('note')?.trim() ?? '';
    const body = note === '' ? {} : { note };
    return { ...apiCall(`${wish}Schedule`, params), ...(noted.includes(wish) ? { body } : {}) };
  },
  done: ({ params }, { body }) => ({
    to: back,
    said: `The schedule of ${params['campaign'] ?? ''} ${wishes[wish].said(body)}`,
  }),
}));

function standing({ state, note, when, timeZone, list, nextAt, fired, last, isRunning }: ScheduleView) {
  const [next] = nextAt;
  return [
    ['State', printable(note === null ? state : `${state}: ${note}`)],
    ['When', when === null ? null : printable(`${when} (${timeZone ?? 'UTC'})`)],
    ['List', printable(list)],
    ['Next run', next === undefined ? null : instant(Date.parse(next), 'full')],
    ['Runs so far', figure(fired)],
    [isRunning ? 'Running now' : 'Last run', last === null ? null : `${last.campaignId}: ${last.result}`],
  ] as const;
}
