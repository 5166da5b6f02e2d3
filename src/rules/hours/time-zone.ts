import { Zone } from 'luxon';
import moment from 'moment-timezone';
import { remember } from '../collections.ts';

type ZoneData = NonNullable<ReturnType<typeof moment.tz.zone>>;

/** Release of the IANA data by which every clock is told, such as `2026f`. Its clock changes are written out until 2037. */
export const zoneDataRelease: string = moment.tz.dataVersion;

/** A zone as the package's table has it: the data inside Node may be a year older. Null: the table has none of that name. */
class TableZone extends Zone {
  readonly #name: string;
  readonly #data: ZoneData | null;

  constructor(name: string, data: ZoneData | null) {
    super();
    this.#name = name;
    this.#data = data;
  }

  override get type(): string {
    return 'table';
  }

  override get name(): string {
    return this.#name;
  }

  override get isUniversal(): boolean {
    return this.#data?.offsets.length === 1;
  }

  override get isValid(): boolean {
    return this.#data !== null;
  }

  override offsetName(at: number): string {
    return this.#data?.abbr(at) ?? '';
  }

  override formatOffset(at: number): string {
    const offset = Math.trunc(this.offset(at));
    const two = (value: number): string => String(value).padStart(2, '0');
    const minutes = Math.abs(offset);
    return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  }

  /** Minutes ahead of UTC. */
  override offset(at: number): number {
    return this.#data === null ? NaN : 0 - this.#data.utcOffset(at);
  }

  override equals(other: Zone): boolean {
    return other instanceof TableZone && other.name === this.name;
  }
}

/** More spellings than there are zones: beyond it, a list brings rubbish. */
const mostZones = 10_000;

/** The zone of that name with its clock changes; one that is not valid where there is none. Upper and lower case are the same. */
export const timeZone: (name: string) => Zone = remember((name) => {
  const data = moment.tz.zone(name);
  // The package takes an underscore for a slash, which names no zone.
  return new TableZone(name, data?.name.toLowerCase() === name.toLowerCase() ? data : null);
}, mostZones);

/**
 * Whether a cell names a zone of the IANA table. Abbreviations such as EST are refused although the table knows some:
 * they keep one offset all year, while whoever writes them means a zone that changes its clocks.
 */
export function isTimeZoneName(name: string): boolean {
  return name === 'UTC' || (name.length <= 64 && /^[A-Za-z]+\/[A-Za-z]/.test(name) && timeZone(name).isValid);
}
