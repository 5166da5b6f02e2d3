import { getCountries } from 'libphonenumber-js/max';
import { theColumn } from '../../domain/columns.ts';
import { readPhoneNumber } from '../../domain/phone-number.ts';
import { panel } from '../../html/elements.ts';
import { html, type Html } from '../../html/html.ts';
import { plural } from '../../input/figures.ts';
import { printable } from '../../input/printable.ts';
import type { View } from '../core/view.ts';
import { choice, refusedFields, textField, type FormState } from './form-fields.ts';
import { sampleTable } from './sample-table.ts';
import type { OpenDraft } from './settings.ts';
import { stepView } from './step-view.ts';

const labels: Readonly<Record<string, string>> = {
  'list.phone': 'Telephone number',
  'list.default_region': 'Country of numbers without +',
  'list.id': 'Your own id of each row',
  'list.timezone': 'Time zone',
  'list.fallback_timezone': 'Time zone of everybody else',
  'list.country': 'Country',
  'list.state': 'State or province',
  'list.zip': 'Postal code',
  'list.not_before': 'Not called before',
  'list.expires_at': 'Not called from then on',
};

/** Which column of the list is for what. */
export function columnsStep(open: OpenDraft, problems: FormState['problems'], status = 200): View {
  const form: FormState = { fields: open.fields, problems };
  const named = open.sample.columns.filter((column) => column.trim() !== '');
  const columns = (none: string): [string, string][] => [
    ['', none],
    ...named.map((column): [string, string] => [column, printable(column)]),
  ];
  const column = (name: string, hint: string, none = 'The list has none'): Html =>
    choice(form, { name, label: labels[name] ?? name, hint, options: columns(none), unknown: 'not in this list' });
  const body = html`
    ${refusedFields(form, (field) => labels[field] ?? field)}
    <form class="act wide" method="post">
      <div class="entry-row">
        ${column('list.phone', 'The number that is called.', 'Choose the column')}
        ${choice(form, {
          name: 'list.default_region',
          label: labels['list.default_region'] ?? '',
          hint: 'A number without + and without a known country is never called.',
          options: [['', 'All numbers begin with +'], ...countries()],
        })}
        ${column('list.id', 'By it a row is known again when you correct the list later.')}
      </div>
      <p class="muted">${numbersText(open)}</p>
      <h3>Whose clock counts</h3>
      <p class="muted">
        Everybody is called by their own clock. It is known from the number; where a number may belong to several time
        zones, nobody is called outside the hours of any of them. A column makes it certain.
      </p>
      <div class="entry-row">
        ${column('list.timezone', 'Such as America/New_York.', 'Known from the number')}
        ${column('list.zip', 'Of the US: tells the zone, and whose law holds.')}
        ${column('list.state', 'Whose law holds, and the zone.')}
        ${column('list.country', 'Of the row; else the country above.')}
        ${textField(form, {
          name: 'list.fallback_timezone',
          label: labels['list.fallback_timezone'] ?? '',
          hint: 'For numbers that tell no zone. Empty: they are not called.',
          list: 'zones',
        })}
      </div>
      <h3>Rows with a time of their own</h3>
      <div class="entry-row">
        ${column('list.not_before', 'A date, or a date and time.')} ${column('list.expires_at', 'The same.')}
      </div>
      ${zoneList()}
      <p class="actions"><button>Save and go on: words</button></p>
    </form>
  `;
  return stepView(
    open,
    'columns',
    [panel('What the columns are', body), panel('The first rows', sampleTable(open))],
    status,
  );
}

/** What can be written where a time zone is asked for. */
export function zoneList(): Html {
  return html`<datalist id="zones">
    ${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}
  </datalist>`;
}

function countries(): [code: string, name: string][] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  return getCountries()
    .map((code): [string, string] => [code, names.of(code) ?? code])
    .sort(([, one], [, other]) => one.localeCompare(other, 'en'))
    .map(([code, name]) => [code, `${name} (${code})`]);
}

/** How many of the first rows have a number that can be read so. */
function numbersText({ sample, fields }: OpenDraft): string {
  const at = (name: string) => sample.columns.indexOf(theColumn(fields[name] ?? '', sample.columns) ?? '\0');
  const [phone, country] = [at('list.phone'), at('list.country')];
  if (phone === -1) return 'No column looks certainly like telephone numbers: choose it.';
  const read = sample.rows.map((row) =>
    readPhoneNumber(row[phone] ?? '', row[country]?.trim() || fields['list.default_region'] || null),
  );
  const bad = read.filter((number) => !number.ok);
  const good = read.length - bad.length;
  if (bad.length === 0) return `Of the first ${plural(read.length, 'row')}, all have a number that can be read.`;
  const [first] = bad;
  return `Of the first ${plural(read.length, 'row')}, ${good} have a number that can be read. Of the others, the first: ${first?.hint ?? ''}.`;
}
