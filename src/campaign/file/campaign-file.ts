import type { LineOf } from '../../shared/input/problems.ts';
import type { LegalRules } from './legal-rules.ts';
import type { CampaignSettings } from './schema.ts';

/** Valid in itself; whether it fits its list is checked once the header has been read. */
export interface CampaignFile {
  id: string;
  name: string | null;
  path: string;
  /** SHA-256 (hex) of the settings, independent of path, YAML spelling and list. */
  hash: string;
  /** Resolved against the campaign file's folder. */
  listPath: string;
  /** Undefined: detected from the list. */
  delimiter: string | undefined;
  /** Set for campaigns and schedules begun before encodings were named. */
  unnamedEncoding?: 'western' | undefined;
  /** The file's settings as written: no defaults, no unit conversion. */
  content: Readonly<Record<string, unknown>>;
  settings: CampaignSettings;
  /** Calling-hours law for this campaign; null when the file turns it off. */
  law: LegalRules | null;
  lineOf: LineOf;
}
