import { createHash } from 'node:crypto';
import { requireSchedule, type ScheduleView } from '../../../operations/control/schedules/view.ts';
import { facts, instant } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { clockChangeLines, recurrenceText, zoneText } from '../../../presentation/words/recurrence.ts';
import { printable } from '../../../shared/input/printable.ts';
import { localMinute } from '../../../shared/input/times.ts';
import { operations } from '../../../operations/list.ts';
import { actionForm, apiCall, type ConsoleAction } from '../core/action.ts';
import { checkboxes, lineField, written } from '../core/fields.ts';
import { pressView } from '../core/press.ts';
import { askSchedules, back, goesOn, standing } from './schedules.ts';

const shownTimes = 5;

/** A campaign that recurs. Its first runs are shown before it is made, and again where anything was changed since. */
export const newSchedule: ConsoleAction = {
  path: '/schedules/new',
  role: operations.createSchedule.role,
  form: async (_request, given) => {
    const { fields, answer } = given;
    const line = (name: string, label: string, required = false) => lineField(fields, { name, label, most: 4096, required });
    return {
      title: answer === null ? 'Make a schedule' : `Make the schedule of ${String(answer['campaignId'])}?`,
      section: 'schedules',
      crumbs: [[back, 'Schedules']],
      body: html`<section class="panel pad-all stack narrow">
        ${answer === null ? explained : firstRuns(answer)}
        ${actionForm(given, {
          button: answer === null ? 'Show its first runs' : 'Make the schedule',
          back,
          body: [
            fields === null || answer === null ? null : html`<input type="hidden" name="seen" value="${hashOf(fields)}" />`,
            html`<label class="field"
                >Campaign file, as for the command line
                <textarea name="campaign" rows="12" required spellcheck="false" autocomplete="off">
${fields?.get('campaign') ?? ''}</textarea>
              </label>
              ${line('list', 'Address of the list of each run, such as https://lists.example/{{ date }}.csv', true)}
              <div class="fields">${timeFields(fields)} ${line('note', 'Note, kept in Temporal')}</div>`,
          ],
        })}
      </section>`,
    };
  },
  call: ({ fields }) => ({
    ...apiCall(isSeen(fields) ? 'createSchedule' : 'previewSchedule'),
    body: bodyOf(fields),
  }),
  done: ({ fields }, { body }) => (isSeen(fields) ? { to: back, said: `The schedule of ${String(body['campaignId'])} is made.` } : null),
};

/** Other times, another list or campaign file, from the next run on. */
export const editSchedule: ConsoleAction = {
  path: '/schedules/:campaign/edit',
  role: operations.editSchedule.role,
  form: async ({ context, params }, given) => {
    const { campaignId } = await requireSchedule(context, params['campaign'] ?? '');
    const { views, why } = await askSchedules(context);
    const view = views?.find((each) => each.campaignId === campaignId);
    const fields = given.fields ?? (view === undefined ? null : writtenOf(view, context.now()));
    return pressView(given, {
      title: 'Change this schedule?',
      section: 'schedules',
      crumbs: [[back, 'Schedules']],
      back: [back, 'the schedules'],
      obstacle:
        view === undefined || view.state === 'missing'
          ? { why: why ?? 'Temporal does not have this schedule: delete it, or create it again.', status: why === null ? 409 : 503 }
          : null,
      says: null,
      effects: [
        ['calendar', '', 'It runs at these times from now on. A pause, its note and the runs so far stay.'],
        ['phone', '', goesOn],
      ],
      keep: 'Leave it as it is',
      standing: view === undefined ? [] : standing(view),
      button: 'Change the schedule',
      body: html`<div class="fields">${timeFields(fields)}</div>
        ${lineField(fields, { name: 'list', label: 'Another address of the list; empty: it stays', most: 4096 })}
        <label class="field"
          >Another campaign file with the same id; empty: it stays
          <textarea name="campaign" rows="6" spellcheck="false" autocomplete="off">${fields?.get('campaign') ?? ''}</textarea>
        </label>`,
    });
  },
  call: ({ fields, params }) => ({ ...apiCall('editSchedule', params), body: bodyOf(fields) }),
  done: ({ params }, { body }) => {
    const [next] = (body as Pick<ScheduleView, 'nextAt'>).nextAt;
    const then = next === undefined ? 'It is paused.' : `Its next run is at ${next.replace('T', ' ').slice(0, 16)} UTC.`;
    return { to: back, said: `The schedule of ${params['campaign'] ?? ''} is changed. ${then}` };
  },
};

/** Its times as the form takes them: a start that lies in the past is none. */
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

function timeFields(fields: URLSearchParams | null): Html {
  const line = (name: string, label: string, required = false) => lineField(fields, { name, label, required });
  return html`${line('cron', 'When, in cron: 0 9 * * mon-fri is 9:00 from Monday to Friday')}
  ${line('every', 'Or an interval, such as 1d or 12h')} ${line('timezone', 'Time zone, such as America/New_York', true)}
  ${line('startAt', 'No run before, such as 2030-11-30T09:00; empty: from now on')}
  ${line('endAt', 'No run after; empty: until it is deleted')} ${line('catchUp', 'A run that is later than this is left out, such as 10m')}
  ${checkboxes(fields, 'keepSkipped', [{ value: 'yes', label: 'Start a run that a clock change skips at the next time that exists' }])}`;
}

const explained = html`<p>
  Each run fetches its list anew and starts a campaign of its own, which calls people without anybody looking again. A run is skipped while
  the campaign of the run before it has not ended. The schedule keeps the campaign file as it is now. An address that contains a key is kept
  in a variable of the workers: env://CARILLON_URL_NAME.
</p>`;

function firstRuns(answer: Record<string, unknown>): Html {
  const { campaignId, when, timeZone, list, nextAt, ...clocks } = answer as unknown as Parameters<typeof clockChangeLines>[0] & {
    campaignId: string;
    when: string;
    timeZone: string;
    list: string;
    nextAt: string[];
  };
  return html`<p>
      Nothing is made yet. These would be its first runs, by its own time zone and by yours. If you change anything below, they are shown
      again before the schedule is made.
    </p>
    ${facts([
      ['Campaign', campaignId],
      ['Runs', printable(`${recurrenceText(when)}, ${zoneText(timeZone)}`)],
      ['Each run reads', printable(list)],
    ])}
    ${clockChangeLines(clocks, timeZone).map((text) => html`<p class="note">${text}</p>`)}
    <ol id="first-runs" class="story">
      ${nextAt
        .slice(0, shownTimes)
        .map((at) => html`<li>${localMinute(at, timeZone)} <span class="soft">${instant(Date.parse(at), 'full')}</span></li>`)}
    </ol>`;
}

const names = ['campaign', 'list', 'cron', 'every', 'timezone', 'catchUp', 'startAt', 'endAt', 'note'] as const;

function bodyOf(fields: URLSearchParams): Record<string, unknown> {
  return { ...written(fields, ...names), ...(fields.get('keepSkipped') === 'yes' ? { keepSkipped: true } : {}) };
}

/** Whether its first runs were shown for just this. */
function isSeen(fields: URLSearchParams): boolean {
  return fields.get('seen') === hashOf(fields);
}

function hashOf(fields: URLSearchParams): string {
  return createHash('sha256')
    .update(JSON.stringify(bodyOf(fields)))
    .digest('hex');
}
