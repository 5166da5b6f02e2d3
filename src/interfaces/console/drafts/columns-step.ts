import { getCountries } from 'libphonenumber-js/max';
import { ownFields, rowFieldList, type RowFieldKey } from '../../../campaign/file/row-fields.ts';
import { theColumn } from '../../../rules/columns.ts';
import { readPhoneNumber } from '../../../rules/phone-number.ts';
import { panel } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { View } from '../core/view.ts';
import { choice, refusedFields, textField, type FormState, sampleTable } from './form-fields.ts';
import type { OpenDraft } from './settings.ts';
import { stepView, fieldOf, labelOf } from './steps.ts';

const labels = new Map(rowFieldList.map(({ key, label }) => [`list.${key}`, label]));

/** Which column of the list is for what. */
export function columnsStep(open: OpenDraft, problems: FormState['problems'], status = 200): View {
  const form: FormState = { fields: open.fields, problems };
  const named = open.sample.columns.filter((column) => column.trim() !== '');
  const columns = (none: string): [string, string][] => [
    ['', none],
    ...named.map((column): [string, string] => [column, printable(column)]),
  ];
  const column = (wanted: RowFieldKey): Html | null => {
    const field = rowFieldList.find(({ key }) => key === wanted);
    if (field === undefined) return null;
    const { label, hint, without = 'The list has none' } = field;
    const name = `list.${wanted}`;
    return choice(form, { name, label, hint, options: columns(without), unknown: 'not in this list' });
  };
  const body = html`
    ${refusedFields(form, (field) => labels.get(field) ?? labelOf(field))}
    <form class="act wide" method="post">
      <div class="entry-row">
        ${column('phone')}
        ${choice(form, {
          ...fieldOf('list.default_region'),
          options: [['', 'All numbers begin with +'], ...countries()],
        })}
        ${column('id')}
      </div>
      <p class="soft">${numbersText(open)}</p>
      <h3>Whose clock counts</h3>
      <p class="soft">
        Everybody is called by their own clock. It is known from the number; where a number may belong to several time zones, nobody is
        called outside the hours of any of them. A column makes it certain.
      </p>
      <div class="entry-row">
        ${column('timezone')} ${column('zip')} ${column('state')} ${column('country')}
        ${textField(form, { ...fieldOf('list.fallback_timezone'), list: 'zones' })}
      </div>
      <h3>What a row says of its own</h3>
      <div class="entry-row">${ownFields.map(({ key }) => column(key))}</div>
      ${zoneList()}
      <p class="actions"><button class="btn">Save and go on: words</button></p>
    </form>
  `;
  return stepView(open, 'columns', [panel('What the columns are', body), panel('The first rows', sampleTable(open))], status);
}

/** What can be written where a time zone is asked for. */
export function zoneList(): Html {
  return html`<datalist id="zones">${Intl.supportedValuesOf('timeZone').map((zone) => html`<option value="${zone}"></option>`)}</datalist>`;
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
  const read = sample.rows.map((row) => readPhoneNumber(row[phone] ?? '', row[country]?.trim() || fields['list.default_region'] || null));
  const bad = read.filter((number) => !number.ok);
  const good = read.length - bad.length;
  if (bad.length === 0) return `Of the first ${plural(read.length, 'row')}, all have a number that can be read.`;
  const [first] = bad;
  return `Of the first ${plural(read.length, 'row')}, ${good} have a number that can be read. Of the others, the first: ${first?.hint ?? ''}.`;
}
