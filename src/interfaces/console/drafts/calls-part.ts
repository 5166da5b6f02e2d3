import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { input, marks, partForm, problemOf, select, selectField, sentence, textField, type FormState } from './form-fields.ts';
import { pageFields, labelOf, timesZone } from './parts.ts';
import type { DraftFields, OpenDraft } from './draft-types.ts';
import { bases } from '../../../rules/consent.ts';

const hours: readonly (readonly [value: string, text: string, small: string])[] = [
  ['office', 'Weekdays, 9:00 to 17:00', 'By the clock of each person'],
  ['any', 'As long as the law allows', 'By the law of where each person is'],
  ['week', 'Other hours', 'Set each day by itself'],
];

export function hoursText(fields: DraftFields): string {
  return hours.find(([value]) => value === fields['hours'])?.[1].replace('Weekdays,', 'Weekdays') ?? 'No hours yet';
}

const waits: readonly (readonly [value: string, text: string])[] = [
  ['15m', '15 minutes'],
  ['30m', '30 minutes'],
  ['1h', '1 hour'],
  ['2h', '2 hours'],
  ['4h', '4 hours'],
  ['1d', '1 day'],
  ['next_day', 'the next day'],
  ['4h, next_day', '4 hours, then the next day'],
  ['', 'the usual time'],
  ['never', 'never'],
];
const spans: readonly (readonly [value: string, text: string])[] = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['', 'no time: no limit'],
];

export function callsPart(open: OpenDraft, form: FormState): HtmlValue {
  const under = (key: string) => [...pageFields.keys()].filter((name) => name.startsWith(`${key}.`));
  const days = under('hours');
  const extra = [...days, 'holidays', 'law', 'basis', 'starts_at', 'ends_at', timesZone];
  const isOpen = form.fields['hours'] === 'week' || extra.some((name) => problemOf(form, name) !== null);
  return partForm(open, 'calls', form, [
    marks(form, 'hours', { type: 'radio', options: hours }),
    html`<details id="more-times" ${isOpen ? html`open` : null}>
      <summary>Days one by one, holidays, law, start and end</summary>
      <div class="stack pad-all">
        <div class="fields days">${days.map((name) => textField(form, name))}</div>
        <p class="hint">The days count with “Other hours”: such as 09:00-12:00, 13:00-17:00; empty is closed.</p>
        <div class="fields">
          ${['holidays', 'law', 'starts_at', 'ends_at'].map((name) => textField(form, name))}
          ${textField(form, timesZone, { list: 'zones', hint: 'Empty: UTC.' })}
          ${selectField(form, 'basis', [['', 'Not stated'], ...bases.map((basis) => [basis, basis.replaceAll('_', ' ')] as const)], { unknown: 'no basis that is known' })}
        </div>
      </div>
    </details>`,
    sentence(
      form,
      under('pacing'),
      html`<label for="pacing.max_concurrent_calls">Call at most</label> ${input(form, 'pacing.max_concurrent_calls')} people at once.
        <span class="hint">You can change this while it runs.</span>`,
    ),
    sentence(
      form,
      under('retry'),
      html`<label for="retry.max_attempts">Try each person up to</label> ${input(form, 'retry.max_attempts')} times:
        ${wait(form, 'retry.busy')} after a busy line, ${wait(form, 'retry.no_answer')} after no answer, ${wait(form, 'retry.voicemail')}
        after voicemail.`,
    ),
    sentence(
      form,
      under('caps'),
      html`<label for="caps.calls">Never call a number more than</label> ${input(form, 'caps.calls')} times in
        <label class="hidden" for="caps.within">${labelOf('caps.within')}</label> ${select(form, 'caps.within', spans)}
        <span class="hint">counted over all campaigns</span>`,
    ),
    sentence(
      form,
      under('price'),
      html`<label for="price.per_minute">A minute on the line costs</label> ${input(form, 'price.per_minute')}
        <label class="hidden" for="price.currency">${labelOf('price.currency')}</label> ${input(form, 'price.currency')}
        <span class="hint">for figures of money; may be empty</span>`,
    ),
  ]);
}

function wait(form: FormState, name: string): Html {
  return html`<label class="hidden" for="${name}">${labelOf(name)}</label> ${select(form, name, waits)}`;
}
