import type { CampaignRules } from '../rules/campaign-rules.ts';
import type { RejectionReason } from '../rules/outcome.ts';
import { readPhoneNumber } from '../shared/input/phone-number.ts';
import { usualPriority, type OwnTerms } from '../rules/row-terms.ts';
import { calendarsFor, type RecipientPlace } from '../rules/hours/legal-hours.ts';
import { opensInYear } from '../rules/hours/calling-window.ts';
import { readOwnHours } from '../rules/hours/own-hours.ts';
import { timeZone } from '../rules/hours/time-zone.ts';
import { instantForms, readInstant, type InstantKind } from '../shared/input/cells.ts';
import { quoteCell } from '../shared/input/printable.ts';
import { text, type Setting } from '../shared/input/setting.ts';

interface RowField extends Setting {
  label: string;
  hint: string;
  rules: string;
  /** Usual names of the column, in lower case with `_` between words. */
  names: RegExp;
  /** Recognises the column by a cell if its name is ambiguous. */
  looksRight?: (cell: string) => boolean;
  /** Set for columns that define a term of their row. */
  own?: OwnField;
}

interface OwnField {
  /** The rules store the column as `<term>Column`. */
  term: keyof OwnTerms;
  reason: RejectionReason;
  /** Reads a non-empty, trimmed cell. */
  read: (cell: string, row: RowSoFar) => CellReading;
  /** Why one row, or several, wait for this term; omitted: no row does. */
  waits?: { one: string; several: string };
}

/** What is known of a row: its place, and the terms of earlier fields. */
export interface RowSoFar extends RecipientPlace {
  rules: CampaignRules;
  zones: readonly string[];
  terms: OwnTerms;
}

/** `fault`: what is wrong with the cell, and the fix. */
type CellReading = { value: OwnTerms[keyof OwnTerms] } | { fault: string };

const column = text('write the name of a column of the list', 1000);

/** Every column that a campaign file may name, by its key below `list`, in reading order. */
export const rowFields = {
  phone: {
    schema: column,
    help: 'Column of the number.',
    label: 'Telephone number',
    hint: 'The number that is called.',
    rules: 'phoneColumn',
    names:
      /^(?:(?:e_?164|phone|mobile|cell|telephone|telefon|tel|mobil|handy|rufnummer|number)(?:_?(?:no|nr|number|phone|nummer|e_?164))?|.*_(?:phone|mobile|phone_number))$/,
    looksRight: (cell) => readPhoneNumber(cell, null).ok || /^\(?0?\d{2,5}\)?[\s./-]\d[\d\s./-]{4,12}$/.test(cell),
  },
  id: {
    schema: column.optional(),
    help: 'Column of your own id.',
    label: 'Your own id of each row',
    hint: 'Tells a row again in a corrected list.',
    rules: 'idColumn',
    names: /^(?:id|.*_id|customer_?(?:no|nr|number)|kundennummer|reference|ref)$/,
  },
  timezone: {
    schema: column.optional(),
    help: 'Column of an IANA time zone such as America/New_York.',
    label: 'Time zone',
    hint: 'Else from the number.',
    rules: 'timezoneColumn',
    names: /^(?:time_?zone|tz|zeitzone)$/,
    looksRight: (cell) => /^[A-Za-z]+\/[A-Za-z]/.test(cell) && timeZone(cell).isValid,
  },
  country: {
    schema: column.optional(),
    help: 'Column of a two-letter country code, for numbers without +.',
    label: 'Country',
    hint: 'Else the country below.',
    rules: 'countryColumn',
    names: /^(?:country(?:_?code)?|land|iso_?country)$/,
  },
  state: {
    schema: column.optional(),
    help: 'Column of the state or province, as code or name.',
    label: 'State or province',
    hint: 'Whose law holds, and the zone.',
    rules: 'regionColumn',
    names: /^(?:state|province|bundesland|region)$/,
  },
  zip: {
    schema: column.optional(),
    help: 'Column of the ZIP code (US): its zone and state.',
    label: 'Postal code',
    hint: 'Of the US: gives zone and law.',
    rules: 'zipColumn',
    names: /^(?:zip(?:_?code)?|postal_?code|postcode|plz)$/,
  },
  not_before: {
    schema: column.optional(),
    help: 'Column of the time before which the row is not dialled.',
    label: 'Not called before',
    hint: 'A date, or a date and time.',
    rules: 'notBeforeColumn',
    names: /^(?:not_?before|call_?(?:after|from))$/,
    own: {
      term: 'notBefore',
      reason: 'invalid_date',
      read: (cell, { zones }) => readTime(cell, 'start', zones),
      waits: { one: 'its time has not come', several: 'their rows set a later time (list.not_before)' },
    },
  },
  expires_at: {
    schema: column.optional(),
    help: 'Column of the time from which on the row is not dialled any more.',
    label: 'Not called from then on',
    hint: 'A date, or a date and time.',
    rules: 'expiresAtColumn',
    names: /^(?:expires?(?:_?at|_?on)?|valid_?until|call_?(?:before|until))$/,
    own: {
      term: 'expiresAt',
      reason: 'invalid_date',
      read: (cell, { rules: { list }, zones, terms: { notBefore } }) => {
        const end = readTime(cell, 'end', zones);
        if ('fault' in end || notBefore == null || end.value > notBefore) return end;
        const from = quoteCell(list.notBeforeColumn ?? '');
        return { fault: `the row expires before it may be dialled; write a time after that in ${from}` };
      },
    },
  },
  priority: {
    schema: column.optional(),
    help: `Column of a number from 1 (called first) to 100 that orders first calls; an empty cell is ${usualPriority}.`,
    label: 'Priority',
    hint: `1 is called first, 100 last; empty is ${usualPriority}.`,
    rules: 'priorityColumn',
    // Not a mere `priority`: that may be a word, or count the other way round.
    names: /^(?:call|dial)(?:ing|ling)?_?priority$/,
    own: { term: 'priority', reason: 'invalid_priority', read: readPriority },
  },
  hours: {
    schema: column.optional(),
    help: 'Column of hours in which alone the row is called, such as 14:00-16:00 or Mon-Fri 18:00-20:00.',
    label: 'Own calling hours',
    hint: 'Such as 14:00-16:00, by their clock.',
    rules: 'hoursColumn',
    names: /^(?:call|dial)(?:ing|ling)?_?(?:hours|window|times?)$/,
    own: {
      term: 'hours',
      reason: 'invalid_hours',
      read: readHours,
      waits: { one: 'its own hours begin then', several: 'their rows set hours of their own (list.hours)' },
    },
  },
  person: {
    schema: column.optional(),
    help: 'Column that says who the person is, the same in all of your lists, for caps by person; an empty cell is list.id.',
    label: 'Who the person is',
    hint: 'The same in all of your lists, for caps by person.',
    rules: 'personKeyColumn',
    names: /^(?:person|contact|member|patient)_?(?:key|id|no|nr|number)$/,
    own: { term: 'personKey', reason: 'invalid_person', read: readPersonKey },
  },
} as const satisfies Record<string, RowField>;

const longestPersonKey = 200;

export type RowFieldKey = keyof typeof rowFields;

export const rowFieldList = Object.entries(rowFields as Record<RowFieldKey, RowField>).map(([key, field]) => ({
  ...field,
  key: key as RowFieldKey,
}));

/** Columns that define a term of their row, in reading order. */
export const ownFields = rowFieldList.flatMap(({ own, ...field }) => (own === undefined ? [] : [{ ...field, ...own }]));

/** Wait reasons from the rows' own terms, by column key. */
export function waitWords(rows: 'one' | 'several'): Readonly<Record<string, string>> {
  return Object.fromEntries(ownFields.flatMap(({ key, waits }) => (waits === undefined ? [] : [[key, waits[rows]]])));
}

function readPersonKey(cell: string): CellReading {
  if (cell.length <= longestPersonKey) return { value: cell };
  return { fault: `it has ${cell.length} characters; write at most ${longestPersonKey} that name the person, or leave the cell empty` };
}

function readPriority(cell: string): CellReading {
  const value = /^\d{1,3}$/.test(cell) ? Number(cell) : 0;
  if (value >= 1 && value <= 100) return { value };
  const advice = `write a whole number from 1 (called first) to 100, or leave the cell empty for ${usualPriority}`;
  return { fault: `${quoteCell(cell)} is no priority; ${advice}` };
}

/** A fixed ordinary year, so that the result does not depend on when the list is read. */
const anyYear = Date.UTC(2030, 0, 1);

function readHours(cell: string, { rules, zones, country, regions }: RowSoFar): CellReading {
  const read = readOwnHours(cell);
  if ('fix' in read) return { fault: `${quoteCell(cell)} are no calling hours; ${read.fix}, or leave the cell empty` };
  const marginMs = rules.timing.dispatchMarginMs;
  const opensWith = (hours: string | null) => {
    // A temporary law may be over or not begun, so it is ignored.
    const law = rules.law.filter(({ from, until }) => from === null && until === null);
    return opensInYear({ calendars: calendarsFor({ ...rules, law }, { country, regions, hours }), zones, at: anyYear, marginMs });
  };
  // If no hours open at all, or the zone is unknown, the row's own hours are not at fault.
  if (zones.length === 0 || opensWith(read.value) || !opensWith(null)) return read;
  const others = zones.length > 1 ? `in all of its ${zones.length} time zones at once` : `in ${zones[0] ?? ''}`;
  const never = `with the hours of the campaign and of the law, they are never open ${others} for longer than advanced.dispatch_margin`;
  return {
    fault: `${quoteCell(cell)} leave no time to call: ${never} (${marginMs / 60_000}m); write hours that are, or leave the cell empty`,
  };
}

function readTime(cell: string, kind: InstantKind, zones: readonly string[]): { value: number } | { fault: string } {
  const value = readInstant(cell, kind, zones);
  return value === null ? { fault: `${quoteCell(cell)} is no date and time; ${instantForms}, or leave the cell empty` } : { value };
}
