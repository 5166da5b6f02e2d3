import { seedFactor } from '../support/seed-factor.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(301, 300 + 20 * seedFactor, 'postgres');
