//! Sizing of volumes, pools, clients and datastores against known and worked answers.

mod attaching;
mod avs;
mod avs_limits;
mod avs_loads;
mod brute_force;
mod claims;
mod clients;
mod needs;
mod placing;
mod proofs;
mod regions_and_terms;
mod schedules;
mod small_answers;
mod unchanged;
mod unequal_volumes;
mod worked_numbers;
