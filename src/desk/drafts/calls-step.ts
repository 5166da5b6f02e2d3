import { bases, weekdays } from '../../domain/campaign-rules.ts';
import { readServiceOffers, type ServiceOffers } from '../../control/check/offers.ts';
import { panel } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import { printable } from '../../input/printable.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { zoneList } from './columns-step.ts';
import { choice, marks, refusedFields, textField, type FormState } from './form-fields.ts';
import type { DraftFields, OpenDraft } from './settings.ts';
import { stepView } from './step-view.ts';

const dayNames = { mon: 'Monday', tue: 'Tuesday', wed: 'Wednesday', thu: 'Thursday', fri: 'Friday', sat: 'Saturday', sun: 'Sunday' } as const; // prettier-ignore

const labels: Readonly<Record<string, string>> = {
  id: 'Id of the campaign',
  name: 'Name',
  agent_id: 'Agent',
  from_phone_number_id: 'Caller number',
  hours: 'When people may be called',
  ...Object.fromEntries(weekdays.map((day) => [`hours.${day}`, dayNames[day]])),
  holidays: 'Closed on holidays of',
  starts_at: 'Begins',
  ends_at: 'Ends',
  times_zone: 'Time zone of begin and end',
  'pacing.max_concurrent_calls': 'Calls at the same time',
  'retry.max_attempts': 'Attempts for each person',
  'retry.busy': 'Again after a busy line',
  'retry.no_answer': 'Again after no answer',
  'retry.voicemail': 'Again after a mailbox',
  'caps.calls': 'Calls to a number, at most',
  'caps.within': 'Within this time',
  basis: 'What the calls rest on',
  'opt_out.collected': 'How the agent notes a wish not to be called again',
};

/** What a new draft says about calls before anybody has said anything. */
export const usualCalls: DraftFields = {
  hours: 'week',
  ...Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => [`hours.${day}`, '09:00-17:00'])),
  'pacing.max_concurrent_calls': '5',
  'retry.max_attempts': '3',
  'retry.busy': '30m',
  'retry.no_answer': '4h',
  'retry.voicemail': '1d',
  'caps.calls': '3',
  'caps.within': '24h',
};

/** Who calls, when, and how often. */
export async function callsStep(
  { context, readings }: Pick<ViewRequest, 'context' | 'readings'>,
  open: OpenDraft,
  problems: FormState['problems'],
  status = 200,
): Promise<View> {
  const form: FormState = { fields: open.fields, problems };
  const offers = await readings.read('service offers', () => readServiceOffers(context.config));
  const text = (name: string, hint: string, more: { type?: 'number' | 'datetime-local'; list?: string; placeholder?: string } = {}) =>
    textField(form, { name, label: labels[name] ?? name, hint, ...more }); // prettier-ignore
  const body = html`
    ${refusedFields(form, (field) => labels[field] ?? field)}
    <form class="act wide" method="post">
      <div class="entry-row">
        ${text('id', 'Names it everywhere, for good; another campaign has another id.')}
        ${text('name', 'For people; may be empty.')}
      </div>
      <h3>Who calls</h3>
      <div class="entry-row">
        ${
          offers.asked && offers.agents.length > 0 && offers.numbers.length > 0
            ? chosenFrom(form, offers)
            : writtenByHand(
                text,
                offers.asked ? 'It lists no agent or no number yet.' : `It was not asked: ${offers.reason}.`,
              )
        }
        ${text('opt_out.collected', 'The name of the value that the agent collects when somebody asks not to be called again. Yes or true there: no campaign calls them again.', { placeholder: 'such as opt_out' })}
      </div>
      <h3>Hours</h3>
      ${marks(form, {
        name: 'hours',
        label: labels['hours'] ?? '',
        type: 'radio',
        hint: "By the clock of whoever is called. The calling hours of each country's law hold as well, in any case.",
        options: [
          ['week', 'At the hours below'],
          ['any', 'At any hour that the law allows'],
        ],
      })}
      <div class="entry-row days">
        ${weekdays.map((day) => text(`hours.${day}`, 'Empty: closed.', { placeholder: '09:00-12:00, 13:00-17:00' }))}
        ${text('holidays', 'Countries such as US or GB-ENG, dates such as 2030-12-24; commas between them.')}
      </div>
      <div class="entry-row">
        ${choice(form, {
          name: 'basis',
          label: labels['basis'] ?? '',
          hint: 'Some laws ask for consent, and the check says which. It is written down, not judged.',
          options: [['', 'Not stated'], ...bases.map((basis) => [basis, basis.replaceAll('_', ' ')] as const)],
          unknown: 'no basis that is known',
        })}
      </div>
      <div class="entry-row">
        ${text('starts_at', 'Empty: as soon as it is started.', { type: 'datetime-local' })}
        ${text('ends_at', 'Nobody is called from then on. Empty: it ends when all rows have.', { type: 'datetime-local' })}
        ${text('times_zone', 'Empty: UTC.', { list: 'zones' })}
      </div>
      <h3>How many, how often</h3>
      <div class="entry-row">
        ${text('pacing.max_concurrent_calls', 'Can be changed while it runs.', { type: 'number' })}
        ${text('caps.calls', 'Over all campaigns of this database. Both empty: no limit but that of the law.', { type: 'number' })}
        ${text('caps.within', 'Such as 24h or 7d.')}
      </div>
      <div class="entry-row days">
        ${text('retry.max_attempts', 'The first call counts.', { type: 'number' })}
        ${text('retry.busy', 'Such as 30m, 4h, 1d, next_day or never. With commas: after the first, the second, …')}
        ${text('retry.no_answer', 'The same.')} ${text('retry.voicemail', 'The same.')}
      </div>
      ${zoneList()}
      <p class="actions"><button>Save and go on: check</button></p>
    </form>
  `;
  return stepView(open, 'calls', panel('Who calls, and when', body), status);
}

function chosenFrom(form: FormState, { agents, numbers }: ServiceOffers): Html {
  const known = new Set(numbers.map(({ id }) => id));
  const written = (form.fields['from_phone_number_id'] ?? '').split(/[\n,]+/).map((id) => id.trim());
  const gone = written.filter((id) => id !== '' && !known.has(id));
  return html`${choice(form, {
    name: 'agent_id',
    label: labels['agent_id'] ?? '',
    hint: 'Who speaks, as the service lists them.',
    options: [['', 'Choose the agent'], ...agents.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const)],
    unknown: 'not listed by the service',
  })}
  ${marks(form, {
    name: 'from_phone_number_id',
    label: labels['from_phone_number_id'] ?? '',
    type: 'checkbox',
    hint: 'With several, each person is called from one that is near to them.',
    options: [
      ...numbers.map(({ id, name }) => [id, name] as const),
      ...gone.map((id) => [id, `${printable(id)} (not listed by the service)`] as const),
    ],
  })}`; // prettier-ignore
}

function writtenByHand(text: (name: string, hint: string) => Html, reason: string): Html {
  return html`${text('agent_id', `The agent's id at the service. ${reason.replace(/\.\.$/, '.')}`)}
  ${text('from_phone_number_id', 'The id of the imported number; several with commas between them.')}`;
}
