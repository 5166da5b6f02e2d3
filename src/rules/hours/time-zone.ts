import { Zone } from 'luxon';
import moment from 'moment-timezone';
import { remember } from '../collections.ts';

type ZoneData = NonNullable<ReturnType<typeof moment.tz.zone>>;

/** IANA data release of every clock, such as `2026f`. Its clock changes are listed until 2037. */
export const zoneDataRelease: string = moment.tz.dataVersion;

/** A zone of the package's table; Node's own data may be a year older. Null: no such name. */
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

/** Above the spellings of all zones; more means garbage in a list. */
const mostZones = 10_000;

/** Zone of that name, case-insensitive, with its clock changes; not valid if there is none. */
export const timeZone: (name: string) => Zone = remember((name) => {
  const data = moment.tz.zone(name);
  // The package takes an underscore for a slash; such a name is no zone.
  return new TableZone(name, data?.name.toLowerCase() === name.toLowerCase() ? data : null);
}, mostZones);

/**
 * Whether a cell names an IANA zone. Abbreviations such as EST are refused: their offset is fixed, but their users mean a zone that changes
 * its clocks.
 */
export function isTimeZoneName(name: string): boolean {
  return name === 'UTC' || (name.length <= 64 && /^[A-Za-z]+\/[A-Za-z]/.test(name) && timeZone(name).isValid);
}
