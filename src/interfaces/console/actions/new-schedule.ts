import { createHash } from 'node:crypto';
import { facts, instant } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { localMinute } from '../../../presentation/words/schedule-times.ts';
import { actionForm, apiCall, type ConsoleAction } from '../core/action.ts';
import { operations } from '../../../operations/list.ts';

const back = '/schedules';
const shownTimes = 5;

/** A campaign that recurs. Its first runs are shown before it is made, and again where anything was changed since. */
export const newSchedule: ConsoleAction = {
  path: '/schedules/new',
  role: operations.createSchedule.role,
  form: async (_request, given) => {
    const { fields, answer } = given;
    const value = (name: string): string => fields?.get(name) ?? '';
    return {
      title: answer === null ? 'Make a schedule' : `Make the schedule of ${String(answer['campaignId'])}?`,
      section: 'schedules',
      crumbs: [[back, 'Schedules']],
      body: html`<section class="panel">
        ${answer === null ? explained : firstRuns(answer)}
        ${actionForm(given, {
          button: answer === null ? 'Show its first runs' : 'Make the schedule',
          back,
          body: [
            fields === null || answer === null ? null : html`<input type="hidden" name="seen" value="${hashOf(fields)}" />`,
            html`<label class="field"
                >Campaign file, as for the command line
                <textarea name="campaign" rows="12" required spellcheck="false" autocomplete="off">${value('campaign')}</textarea>
              </label>
              ${line('list', 'Address of the list of each run, such as https://lists.example/{{ date }}.csv', value, true)}
              ${line('cron', 'When, in cron: 0 9 * * mon-fri is 9:00 from Monday to Friday', value)}
              ${line('every', 'Or an interval, such as 1d or 12h', value)}
              ${line('timezone', 'Time zone, such as America/New_York', value, true)}
              ${line('startAt', 'No run before, such as 2030-11-30T09:00; empty: from now on', value)}
              ${line('endAt', 'No run after; empty: until it is deleted', value)} ${line('note', 'Note, kept in Temporal', value)}`,
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

const explained = html`<p>
  Each run fetches its list anew and starts a campaign of its own, which calls people without anybody looking again. A run is skipped while
  the campaign of the run before it has not ended. The schedule keeps the campaign file as it is now. An address that contains a key is kept
  in a variable of the workers: env://CARILLON_URL_NAME.
</p>`;

function line(name: string, label: string, value: (name: string) => string, required = false): Html {
  return html`<label class="field"
    >${label} <input name="${name}" maxlength="4096" autocomplete="off" value="${value(name)}" ${required ? html`required` : null}
  /></label>`;
}

function firstRuns(answer: Record<string, unknown>): Html {
  const { campaignId, when, timeZone, list, nextAt } = answer as {
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
      ['When', printable(`${when} (${timeZone})`)],
      ['Each run reads', printable(list)],
    ])}
    <ol id="first-runs" class="story">
      ${nextAt
        .slice(0, shownTimes)
        .map((at) => html`<li>${localMinute(at, timeZone)} <span class="muted">${instant(Date.parse(at), 'full')}</span></li>`)}
    </ol>`;
}

const names = ['campaign', 'list', 'cron', 'every', 'timezone', 'startAt', 'endAt', 'note'] as const;

/** What was written there, as the API takes it. */
function bodyOf(fields: URLSearchParams): Record<string, string> {
  const written = names.map((name) => [name, fields.get(name)?.trim() ?? ''] as const);
  return Object.fromEntries(written.filter(([, value]) => value !== ''));
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
