import { refusalOf, type CampaignFile } from '../file/file.ts';
import { basisWords } from '../../rules/campaign-rules.ts';
import { lacksBasis, type LawOutlook } from '../../rules/hours/legal-hours.ts';
import { plural } from '../../shared/input/figures.ts';

/**
 * Refuses to begin a campaign that does not state what its calls rest on, where the law forbids them without consent.
 * @throws CampaignFileError
 */
export function refuseMissingBasis(file: CampaignFile, outlook: LawOutlook): void {
  const lacking = lacksBasis(outlook);
  const [first] = lacking;
  if (first === undefined) return;
  const where = lacking.map(({ country, rows, source }) => `${country} (${plural(rows, 'row')}; ${source})`).join(', ');
  const message = `is missing, and the law asks for consent in ${where}; write what your calls rest on: ${basisWords}; or leave the rows out, or write law: { ${first.country}: none } if that law does not hold for your calls`;
  throw refusalOf(file, ['basis'], message);
}
