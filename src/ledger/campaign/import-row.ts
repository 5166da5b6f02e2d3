import type { RowTerms } from '../../rules/row-terms.ts';

/** One data row as the list reader hands it over. */
export interface ImportRow extends RowTerms {
  /** Data row from 1, in file order. */
  row: number;
  cells: string[];
  verdict: 'accepted' | 'rejected';
  /** Rejection code, for rejected rows. */
  reason?: string;
}
