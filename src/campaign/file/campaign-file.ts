import type { LineOf } from '../../shared/input/problems.ts';
import type { LegalRules } from './legal-rules.ts';
import type { CampaignSettings } from './schema.ts';

/** A campaign file that is valid in itself; whether it fits its list is known once the header has been read. */
export interface CampaignFile {
  id: string;
  name: string | null;
  path: string;
  /** SHA-256 (hex) of what the file says: not of its path, its YAML spelling or the list, which is imported once. */
  hash: string;
  /** Path of the list, resolved against the folder of the campaign file. */
  listPath: string;
  /** Undefined: to be found in the list. */
  delimiter: string | undefined;
  /** Of a campaign or schedule that began before encodings were named. */
  unnamedEncoding?: 'western' | undefined;
  /** What the file says, without comments and as it was written: no defaults, no units worked out. */
  content: Readonly<Record<string, unknown>>;
  settings: CampaignSettings;
  /** Rules by law that hold for this campaign; null when the file turns them off. */
  law: LegalRules | null;
  lineOf: LineOf;
}
