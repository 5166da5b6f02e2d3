import { aside, badge, count, empty, id, panel, phone, table, type Row } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import type { PhoneNumber } from '../core/state/agent.ts';
import { agentLink } from './call-words.ts';
import { button, type View, type ViewRequest } from './elements.ts';

export function numbersView({ service }: ViewRequest): View {
  const numbers = [...service.state.numbers.values()];
  return {
    title: 'Numbers',
    follows: ['number', 'agent'],
    body: [
      panel(
        'Numbers',
        table(
          'Numbers',
          numbers.map((number) => ({ key: `number-${number.phoneNumberId}`, cells: cellsOf(service, number) })),
          empty('No number yet', html`Operation 12, <code>POST /v1/convai/phone-numbers</code>, imports one.`),
        ),
        numbers.length === 0 ? null : aside(count(numbers.length, 'number')),
      ),
      numbers.length === 0 ? null : panel('Let somebody call', callInForm(numbers)),
    ],
  };
}

function cellsOf(service: Service, number: PhoneNumber): Row['cells'] {
  const { phoneNumberId, phoneNumber, label, agentId, verified } = number;
  const action = verified ? 'unverify' : 'verify';
  return {
    Number: phone(phoneNumber),
    Label: label,
    Id: id(phoneNumberId),
    Agent: agentLink(service, agentId),
    State: verified ? badge('good', 'Verified') : badge('wait', 'Not verified'),
    '': button(
      verified ? 'Unverify' : 'Verify',
      {
        request: `POST /_sandbox/numbers/${encodeURIComponent(phoneNumberId)}/${action}`,
        said: `${phoneNumber} is ${verified ? 'no longer' : 'now'} verified.`,
      },
      html`aria-label="${verified ? 'Unverify' : 'Verify'} ${phoneNumber}"`,
    ),
  };
}

function callInForm(numbers: readonly PhoneNumber[]): Html {
  return html`<form class="actions" data-request="POST /_sandbox/inbound" data-said="Somebody calls." data-tells="inbound">
    <label
      >Number
      <select name="phone_number_id">
        ${numbers.map(({ phoneNumberId, phoneNumber, label }) => html`<option value="${phoneNumberId}">${label} (${phoneNumber})</option>`)}
      </select>
    </label>
    <label>Called from <input name="from" inputmode="tel" required value="+12125550123" autocomplete="off" /></label>
    <button class="btn">Call in</button>
  </form>`;
}
