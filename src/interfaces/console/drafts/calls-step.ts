import { bases } from '../../../rules/campaign-rules.ts';
import { readServiceOffers, type ServiceOffers } from '../../../operations/control/check/service.ts';
import { panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { View, ViewRequest } from '../core/view.ts';
import { zoneList } from './columns-step.ts';
import { choice, marks, refusedFields, textField, type FormState } from './form-fields.ts';
import type { OpenDraft } from './settings.ts';
import { stepView, asked, fieldOf, labelOf, timesZone } from './steps.ts';

/** Who calls, when, and how often. */
export async function callsStep(
  { context, cache }: Pick<ViewRequest, 'context' | 'cache'>,
  open: OpenDraft,
  problems: FormState['problems'],
  status = 200,
): Promise<View> {
  const form: FormState = { fields: open.fields, problems };
  const offers = await cache.read('service offers', () => readServiceOffers(context.config));
  const text = (name: string) => textField(form, fieldOf(name));
  const under = (key: string) => [...asked.keys()].filter((name) => name.startsWith(`${key}.`)).map(text);
  const body = html`
    ${refusedFields(form, labelOf)}
    <form class="act wide" method="post">
      <div class="entry-row">${text('id')} ${text('name')}</div>
      <h3>Who calls</h3>
      <div class="entry-row">
        ${
          offers.asked && offers.agents.length > 0 && offers.numbers.length > 0
            ? chosenFrom(form, offers)
            : writtenByHand(form, offers.asked ? 'It lists no agent or no number yet.' : `It was not asked: ${offers.reason}.`)
        }
        ${under('opt_out')}
      </div>
      <h3>Hours</h3>
      ${marks(form, {
        ...fieldOf('hours'),
        type: 'radio',
        options: [
          ['week', 'At the hours below'],
          ['any', 'At any hour that the law allows'],
        ],
      })}
      <div class="entry-row days">${under('hours')} ${text('holidays')}</div>
      <div class="entry-row">
        ${choice(form, {
          ...fieldOf('basis'),
          options: [['', 'Not stated'], ...bases.map((basis) => [basis, basis.replaceAll('_', ' ')] as const)],
          unknown: 'no basis that is known',
        })}
      </div>
      <div class="entry-row">
        ${text('starts_at')} ${text('ends_at')}
        ${textField(form, { name: timesZone, label: labelOf(timesZone), hint: 'Empty: UTC.', list: 'zones' })}
      </div>
      <h3>How many, how often</h3>
      <div class="entry-row">${under('pacing')} ${under('caps')}</div>
      <div class="entry-row days">${under('retry')}</div>
      ${zoneList()}
      <p class="actions"><button class="btn">Save and go on: check</button></p>
    </form>
  `;
  return stepView(open, 'calls', panel('Who calls, and when', body), status);
}

function chosenFrom(form: FormState, { agents, numbers }: ServiceOffers): Html {
  const known = new Set(numbers.map(({ id }) => id));
  const written = (form.fields['from_phone_number_id'] ?? '').split(/[\n,]+/).map((id) => id.trim());
  const gone = written.filter((id) => id !== '' && !known.has(id));
  return html`${choice(form, {
    ...fieldOf('agent_id'),
    options: [['', 'Choose the agent'], ...agents.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const)],
    unknown: 'not listed by the service',
  })}
  ${marks(form, {
    ...fieldOf('from_phone_number_id'),
    type: 'checkbox',
    options: [
      ...numbers.map(({ id, name }) => [id, name] as const),
      ...gone.map((id) => [id, `${printable(id)} (not listed by the service)`] as const),
    ],
  })}`; // prettier-ignore
}

function writtenByHand(form: FormState, reason: string): Html[] {
  const hints = {
    agent_id: `The agent's id at the service. ${reason.replace(/\.\.$/, '.')}`,
    from_phone_number_id: 'The id of the imported number; several with commas between them.',
  };
  return Object.entries(hints).map(([name, hint]) => textField(form, { ...fieldOf(name), hint }));
}
