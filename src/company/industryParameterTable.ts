/**
 * One line per industry, with columns separated by `|` and codes by spaces; names and emission factors are in
 * src/reference/industries.ts.
 *
 * id, sector; ISIC Rev. 4, NACE Rev. 2 and NAICS 2017 codes; exponent of scope 1 on the carbon intensity of the economy;
 * value added per output; group; short-run and long-run pass-through; price of full abatement, USD per t CO2e;
 * price elasticity of demand; tangible share of assets; sensitivity to heat; volatility of assets.
 *
 * docs/methods/company.md marks which of these are our judgement.
 */
export const INDUSTRY_TABLE = `
iron_steel|Metals and mining|2410 2431|24.1 24.2 24.3 24.51 24.52|3311 3312 33151|.55|.244|steel|.7|.9|170|.5|.5|1.1|.3
aluminium|Metals and mining|2420|24.42|3313|.55|.199|metals|.25|.6|150|.5|.5|1.1|.3
precious_metals|Metals and mining|0729 2420|07.29 24.41|212221 212222 331410|.17|.482|mining|.3|.9|150|.3|.6|1.3|.3
other_metals_minerals|Metals and mining|0710 0729 0891 0899 2420|07.10 07.29 08.91 08.99 24.43 24.44 24.45|2122 2123 3314|.17|.346|mining|.3|.9|150|.3|.6|1.3|.3
wood_products|Forest, paper and packaging|0220 1610 1621 1622|02.20 16.10 16.21 16.23|1133 3211 3212 3219|.55|.359|pulp_paper|.45|.9|150|.3|.5|1|.25
construction_materials|Building materials|0810 2392 2394 2395 2396|08.1 23.3 23.5 23.6 23.7|2123 3271 3273 3274 32799|.55|.42|cement|.3|.9|150|.4|.6|1.2|.28
metal_fabrication|Industrial goods|2511 2512 2591 2592 2599|25.1 25.5 25.6 25.9|332|.57|.407|light_mfg|.55|.9|200|.5|.25|.85|.25
industrial_machinery|Industrial goods|2811 2812 2813 2814 2816 2818 2819 2822 2823 2826 2829|28.1 28.2 28.4 28.9|333|.57|.383|light_mfg|.55|.9|200|.5|.25|.85|.25
heavy_vehicles_machinery|Industrial goods|2821 2824 2910 3020|28.3 28.92 29.10 30.2|33311 33312 33612 3365|.57|.287|autos|.6|.9|200|.8|.3|.85|.28
auto_parts|Automotive|2930|29.3|3363|.57|.232|autos|.6|.9|200|.8|.3|.85|.28
building_products|Building materials|1622 2310 2392 2393 2512 2825|16.23 23.1 23.3 25.12 28.25|32191 32712 332321 333415 337110 324122|.57|.392|light_mfg|.55|.9|200|.5|.25|.85|.25
electrical_products|Industrial goods|2710 2720 2731 2732 2733 2740 2790|27.1 27.2 27.3 27.4 27.9|3351 3353 3359|.57|.418|light_mfg|.55|.9|200|.5|.25|.85|.25
office_equipment|Industrial goods|1709 2817 3100 3290|17.23 28.23 31.01 32.99|32223 33721 339940|.57|.349|light_mfg|.55|.9|200|.5|.25|.85|.25
misc_manufacturing|Industrial goods|2219 2220 3290|22.19 22.29 32.99|3261 3262 3399|.57|.357|light_mfg|.55|.9|200|.5|.25|.85|.25
industrial_conglomerates|Industrial goods|6420 28 27|64.20 28 27|551112 333 335|.57|.412|light_mfg|.55|.9|200|.5|.25|.85|.25
semiconductors|Technology hardware|2610|26.11|334413|.57|.736|electronics|.6|.9|200|.6|.3|.7|.32
electronic_components|Technology hardware|2610|26.11 26.12|33441|.57|.512|electronics|.6|.9|200|.6|.3|.7|.32
electronic_instruments|Technology hardware|2651 2652 2660 2670|26.5 26.7|3345 33331|.57|.664|electronics|.6|.9|200|.6|.3|.7|.32
telecom_equipment|Technology hardware|2630|26.3|3342|.57|.637|electronics|.6|.9|200|.6|.3|.7|.32
aerospace_defence|Aerospace and defence|2520 3030 3040 3011|25.4 30.1 30.3 30.4|3364 336611 336992 33299|.57|.507|light_mfg|.55|.9|200|.5|.25|.85|.25
computer_hardware|Technology hardware|2620|26.2|334111|.57|.732|electronics|.6|.9|200|.6|.3|.7|.32
computer_peripherals|Technology hardware|2620 2680|26.2 26.8|334112 334118 33461|.57|.608|electronics|.6|.9|200|.6|.3|.7|.32
network_equipment|Technology hardware|2620 2630|26.2 26.3|334210 334118|.57|.637|electronics|.6|.9|200|.6|.3|.7|.32
electronic_production_equipment|Technology hardware|2829|28.99|333242|.57|.427|electronics|.6|.9|200|.6|.3|.7|.32
motor_vehicles|Automotive|2910 3091|29.1 30.91|3361 336991|.57|.226|autos|.6|.9|200|.8|.3|.85|.28
auto_aftermarket|Automotive|2211 2930 4530|22.11 29.32 45.3|32621 3363 4413|.57|.568|light_mfg|.55|.9|200|.5|.25|.85|.25
homebuilding|Construction and real estate|4100|41.1 41.2|2361|.55|.637|construction|.6|.9|250|.4|.15|1.7|.25
home_furnishings|Consumer durables|1392 1393 3100|13.92 13.93 31.0|3371 3379 3141|.57|.329|consumer_goods|.6|.9|200|.5|.22|.8|.22
consumer_electronics_appliances|Consumer durables|2640 2750|26.4 27.5|3343 3352|.57|.504|consumer_goods|.6|.9|200|.5|.22|.8|.22
tools_hardware|Consumer durables|2593 2818|25.7 28.24|3322 3325 333991|.57|.447|consumer_goods|.6|.9|200|.5|.22|.8|.22
recreational_products|Consumer durables|3012 3092 3230 3240|30.12 30.92 32.3 32.4|33992 33993 336612 336214|.57|.309|consumer_goods|.6|.9|200|.5|.22|.8|.22
consumer_specialties|Consumer durables|1512 2652 3211 3212|15.12 26.52 32.1|33991 316 334519|.57|.547|consumer_goods|.6|.9|200|.5|.22|.8|.22
oil_gas_production|Oil, gas and coal|0610 0620|06.1 06.2|2111|.17|.615|oilgas_up|.4|.9|120|.3|.65|1.1|.3
integrated_oil|Oil, gas and coal|0610 0620 1920|06 19.2|2111 32411|.17|.406|oilgas_up|.4|.9|120|.3|.65|1.1|.3
oil_refining|Oil, gas and coal|1920 4661 4730|19.2 46.71 47.3|32411 4247 447|.55|.313|refining|.85|.9|180|.25|.55|.9|.28
coal_mining|Oil, gas and coal|0510 0520 1910|05 19.1|2121|.17|.565|coal|.2|.9|120|.6|.6|1.2|.35
diversified_chemicals|Chemicals|2011 2013 2030|20.1 20.6|3251 3252|.55|.257|chemicals_bulk|.5|.9|200|.45|.45|.9|.26
specialty_chemicals|Chemicals|2022 2029|20.3 20.5|3255 3259 325120|.57|.336|chemicals_spec|.6|.9|200|.45|.35|.85|.25
agricultural_chemicals|Chemicals|2012 2021|20.15 20.2|3253|.55|.36|chemicals_bulk|.5|.9|200|.45|.45|.9|.26
textiles|Consumer non-durables|1311 1312 1313 1391 1392 1399|13|313 314|.57|.318|consumer_goods|.6|.9|200|.5|.22|.8|.22
agri_commodities_milling|Food, beverage and tobacco|0111 0112 0150 1040 1061 1062 1080|01.1 01.4 10.4 10.6 10.9|111 112 3111 3112|.57|.176|food|.6|.9|200|.4|.3|.9|.2
pulp_paper|Forest, paper and packaging|1701|17.1|3221|.55|.321|pulp_paper|.45|.9|150|.3|.5|1|.25
packaging|Forest, paper and packaging|1702 2220 2310 2599|17.21 22.22 23.13 25.92|32221 32611 32721 33243|.57|.294|light_mfg|.55|.9|200|.5|.25|.85|.25
industrial_specialties|Chemicals|2022 2219 2220|20.3 22.1 22.2 23.9|3255 326 32791|.57|.341|chemicals_spec|.6|.9|200|.45|.35|.85|.25
pharma_major|Health care products|2100|21.2|325412|.57|.592|pharma|.7|.9|200|.2|.2|.67|.25
pharma_other|Health care products|2100|21.1 21.2|325411 325412|.57|.584|pharma|.7|.9|200|.2|.2|.67|.25
pharma_generic|Health care products|2100|21.1 21.2|325411 325412|.57|.584|pharma|.7|.9|200|.2|.2|.67|.25
biotechnology|Health care products|2100 7210|21.1 72.11|325414 541714|.57|.619|pharma|.7|.9|200|.2|.2|.67|.25
medical_devices|Health care products|2660 3250|26.6 32.5|3391 334510|.57|.646|pharma|.7|.9|200|.2|.2|.67|.25
food_diversified|Food, beverage and tobacco|1030 1050 1061 1071 1074 1075 1079|10|311|.57|.262|food|.6|.9|200|.4|.3|.9|.2
food_specialty|Food, beverage and tobacco|1071 1073 1079|10.7 10.8|3113 3118 3119|.57|.294|food|.6|.9|200|.4|.3|.9|.2
food_meat_fish_dairy|Food, beverage and tobacco|1010 1020 1050|10.1 10.2 10.5|3115 3116 3117|.57|.155|food|.6|.9|200|.4|.3|.9|.2
beverages_nonalcoholic|Food, beverage and tobacco|1104|11.07|31211 31193|.57|.267|food|.6|.9|200|.4|.3|.9|.2
beverages_alcoholic|Food, beverage and tobacco|1101 1102 1103|11.01 11.02 11.05|31212 31213 31214|.57|.402|food|.6|.9|200|.4|.3|.9|.2
tobacco|Food, beverage and tobacco|1200|12|3122|.57|.72|consumer_goods|.6|.9|200|.5|.22|.8|.22
household_personal_care|Consumer non-durables|1709 2023|17.22 20.4|3256 322291|.57|.45|consumer_goods|.6|.9|200|.5|.22|.8|.22
apparel_footwear|Consumer non-durables|1410 1420 1430 1520|14 15.2|315 316|.57|.529|consumer_goods|.6|.9|200|.5|.22|.8|.22
consumer_sundries|Consumer non-durables|3290 2220|32.9 22.29|3399 326199|.57|.377|consumer_goods|.6|.9|200|.5|.22|.8|.22
contract_drilling|Oil, gas and coal|0910|09.1|213111|.17|.569|oil_services|.4|.9|200|.4|.45|1.2|.32
oilfield_services|Oil, gas and coal|0910 2824|09.1 28.92|213112 333132|.17|.529|oil_services|.4|.9|200|.4|.45|1.2|.32
engineering_construction|Construction and real estate|4100 4210 4220 4290 4321 7110|41 42 43 71.12|236 237 238 5413|.55|.567|construction|.6|.9|250|.4|.15|1.7|.25
environmental_services|Utilities and environment|3700 3811 3812 3821 3822 3830 3900|37 38 39|562|.64|.521|waste|.7|.9|150|.3|.45|1.2|.2
oil_gas_pipelines|Oil, gas and coal|4930|49.5|486|.62|.69|pipelines|.9|.9|150|.3|.7|.8|.18
commercial_services|Business services|7020 7490 8010 8110 8121 8211 8299|70 74 80 81 82|561 5416|.71|.616|services|.65|.9|200|.4|.12|.67|.25
advertising_marketing|Business services|7310 7320|73|5418 54191|.71|.588|services|.65|.9|200|.4|.12|.67|.25
commercial_printing|Business services|1811 1812|18.1|3231|.57|.477|light_mfg|.55|.9|200|.5|.25|.85|.25
financial_publishing|Business services|6312 6619 8291|63.1 66.19 82.91|5191 5614 523999|.71|.501|services|.65|.9|200|.4|.12|.67|.25
personnel_services|Business services|7810 7820 7830|78|5613|.71|.77|services|.65|.9|200|.4|.12|.67|.25
wholesale|Wholesale trade|4610 4641 4649 4653 4659 4662 4663 4669 4690|46|423 424|.71|.115|retail|.7|.9|200|.5|.3|.7|.24
food_wholesale|Wholesale trade|4630|46.3|4244|.71|.083|retail|.7|.9|200|.5|.3|.7|.24
electronics_wholesale|Wholesale trade|4651 4652|46.5|4234 4236|.71|.118|retail|.7|.9|200|.5|.3|.7|.24
medical_wholesale|Wholesale trade|4649|46.46|4242 42345|.71|.043|retail|.7|.9|200|.5|.3|.7|.24
data_processing|Technology services|6311|63.11|5182|.71|.493|software|.7|.9|100|.3|.1|.67|.3
it_services|Technology services|6202 6209|62.02 62.09|5415|.71|.688|software|.7|.9|100|.3|.1|.67|.3
software|Technology services|5820 6201|58.2 62.01|5112|.71|.724|software|.7|.9|100|.3|.1|.67|.3
internet_services|Technology services|6201 6312|62.01 63.12|51913 5182|.71|.491|software|.7|.9|100|.3|.1|.67|.3
managed_health_care|Health care services|6512|65.12|524114|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07
hospitals|Health care services|8610 8710 8730|86.1 87|622 623|.71|.566|health_services|.6|.9|200|.2|.3|.67|.22
medical_services|Health care services|8620 8690|86.2 86.9|621|.71|.661|health_services|.6|.9|200|.2|.3|.67|.22
health_industry_services|Health care services|7210 8690|72.1 86.9|6215 54171 5614|.71|.588|health_services|.6|.9|200|.2|.3|.67|.22
media_conglomerates|Media and entertainment|5911 6020|59 60|512 515|.71|.577|services|.65|.9|200|.4|.12|.67|.25
broadcasting|Media and entertainment|6010 6020|60|5151|.71|.536|services|.65|.9|200|.4|.12|.67|.25
cable_satellite|Media and entertainment|6020 6110 6130|60.2 61.1 61.3|5152 517311 517410|.71|.475|telecom|.6|.9|150|.3|.4|.67|.2
newspapers|Media and entertainment|5813|58.13|51111|.71|.683|services|.65|.9|200|.4|.12|.67|.25
books_magazines|Media and entertainment|5811 5813|58.11 58.14|51112 51113 51114|.71|.539|services|.65|.9|200|.4|.12|.67|.25
entertainment|Media and entertainment|5911 5914 5920 9000 9321|59 90 93|5121 5122 711 7131|.71|.637|leisure|.6|.9|200|.6|.45|1|.28
restaurants|Leisure and hospitality|5610 5630|56|7223 7224 7225|.71|.543|leisure|.6|.9|200|.6|.45|1|.28
hotels_cruise|Leisure and hospitality|5510 5011|55 50.1|7211 483112|.71|.59|leisure|.6|.9|200|.6|.45|1|.28
casinos_gaming|Leisure and hospitality|9200|92|7132 72112|.71|.608|leisure|.6|.9|200|.6|.45|1|.28
consumer_services|Leisure and hospitality|7911 8530 8549 9601 9602 9609|79 85 96|611 812 5615|.71|.672|services|.65|.9|200|.4|.12|.67|.25
food_retail|Retail trade|4711 4721|47.11 47.2|4451|.71|.183|retail|.7|.9|200|.5|.3|.7|.24
drugstores|Retail trade|4772|47.73 47.74 47.75|44611|.71|.164|retail|.7|.9|200|.5|.3|.7|.24
department_stores|Retail trade|4719|47.19|4522|.71|.207|retail|.7|.9|200|.5|.3|.7|.24
discount_stores|Retail trade|4711 4719|47.11 47.19|4523|.71|.17|retail|.7|.9|200|.5|.3|.7|.24
apparel_retail|Retail trade|4771|47.71 47.72|448|.71|.222|retail|.7|.9|200|.5|.3|.7|.24
home_improvement_retail|Retail trade|4752|47.52|4441|.71|.25|retail|.7|.9|200|.5|.3|.7|.24
electronics_retail|Retail trade|4741 4742 4759|47.4 47.54|4431|.71|.155|retail|.7|.9|200|.5|.3|.7|.24
specialty_retail|Retail trade|4510 4761 4763 4773 4774|45.1 47.6 47.7|441 451 453|.71|.22|retail|.7|.9|200|.5|.3|.7|.24
catalogue_retail|Retail trade|4791|47.91|4541|.71|.256|retail|.7|.9|200|.5|.3|.7|.24
internet_retail|Retail trade|4791|47.91|45411|.71|.242|retail|.7|.9|200|.5|.3|.7|.24
air_freight_couriers|Transport|5120 5229 5320|51.2 52.29 53.2|481112 4885 492|.62|.511|trucking|.7|.9|250|.3|.45|1.1|.25
airlines|Transport|5110|51.1|481111|0|.448|airlines|.6|.9|400|.8|.6|.8|.3
trucking|Transport|4923|49.4|484|.62|.43|trucking|.7|.9|250|.3|.45|1.1|.25
railroads|Transport|4911 4912|49.1 49.2|482|.62|.5|rail|.7|.9|250|.3|.65|1|.2
marine_shipping|Transport|5011 5012 5021 5022|50|483|0|.288|shipping|.7|.9|300|.2|.65|.8|.3
other_transport|Transport|4921 4922 5210 5221 5222 5223 5224|49.3 52|485 488 493|.62|.441|rail|.7|.9|250|.3|.65|1|.2
electric_utilities|Utilities and environment|3510|35.1|2211|0|.6|power|.85|.85|100|.2|.75|.8|.18
gas_distribution|Utilities and environment|3520|35.2|2212|.62|.586|pipelines|.9|.9|150|.3|.7|.8|.18
water_utilities|Utilities and environment|3600 3700|36 37|2213|.64|.502|water|.8|.9|200|.2|.75|.8|.15
renewable_power|Utilities and environment|3510|35.11|221111 221114 221115 221116|0|.7|power_renew|.75|.85|100|.2|.8|.8|.2
major_banks|Financial services|6419|64.19|52211|.71|.709|banks|.6|.9|150|.3|.02|.67|.06
regional_banks|Financial services|6419|64.19|52211|.71|.709|banks|.6|.9|150|.3|.02|.67|.06
savings_banks|Financial services|6419|64.19|52212 52213|.71|.709|banks|.6|.9|150|.3|.02|.67|.06
finance_leasing|Financial services|6491 6492 7710 7730|64.91 64.92 77|5222 532|.71|.611|banks|.6|.9|150|.3|.02|.67|.06
investment_banks|Financial services|6611 6612|66.11 66.12|5231 5232|.71|.544|fin_services|.6|.9|150|.4|.05|.67|.2
investment_managers|Financial services|6630|66.3|52392 52393|.71|.482|fin_services|.6|.9|150|.4|.05|.67|.2
financial_conglomerates|Financial services|6420 6499|64.2 64.99|551111 523 524|.71|.597|banks|.6|.9|150|.3|.02|.67|.06
insurance_pc|Insurance|6512|65.12|524126|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07
insurance_multiline|Insurance|6511 6512|65.1|5241|.71|.545|insurance|.6|.9|150|.3|.02|.67|.07
insurance_life|Insurance|6511|65.11|524113 524114|.71|.726|insurance|.6|.9|150|.3|.02|.67|.07
insurance_specialty|Insurance|6512 6520|65.12 65.2|524127 524128 52413|.71|.511|insurance|.6|.9|150|.3|.02|.67|.07
insurance_brokers|Insurance|6621 6622 6629|66.2|5242|.71|.448|fin_services|.6|.9|150|.4|.05|.67|.2
real_estate_development|Construction and real estate|4100 6810 6820|41.1 68|2361 531|.71|.548|real_estate|.4|.9|200|.3|.9|.67|.18
reits|Construction and real estate|6810|68.2|5311|.71|.445|real_estate|.4|.9|200|.3|.9|.67|.18
telecom_integrated|Telecommunications|6110 6120|61.1 61.2|517311|.71|.539|telecom|.6|.9|150|.3|.4|.67|.2
telecom_specialty|Telecommunications|6130 6190|61.3 61.9|5174 5179 517911|.71|.53|telecom|.6|.9|150|.3|.4|.67|.2
telecom_wireless|Telecommunications|6120|61.2|517312|.71|.438|telecom|.6|.9|150|.3|.4|.67|.2
miscellaneous|Other|9609|96.09||.71|.519|services|.65|.9|200|.4|.12|.67|.25
investment_funds|Financial services|6430|64.3|5259|.71|.482|fin_services|.6|.9|150|.4|.05|.67|.2
cement_lime|Building materials|2394|23.5|327310 327410|.55|.414|cement|.3|.9|150|.4|.6|1.2|.28
glass|Building materials|2310|23.1|3272|.55|.426|chemicals_bulk|.5|.9|200|.45|.45|.9|.26
fertilisers|Chemicals|2012|20.15|32531|.55|.373|chemicals_bulk|.5|.9|200|.45|.45|.9|.26
crop_farming|Agriculture and fishing|0111 0112 0113 0114 0121 0122 0125 0130|01.1 01.2 01.3|111|0|.416|agri|.3|.9|250|.4|.6|1.55|.25
livestock_farming|Agriculture and fishing|0141 0144 0145 0146|01.4|112|0|.314|agri|.3|.9|250|.4|.6|1.55|.25
forestry_logging|Agriculture and fishing|0210 0220 0240|02|113|0|.538|agri|.3|.9|250|.4|.6|1.55|.25
fishing_aquaculture|Agriculture and fishing|0311 0312 0321 0322|03|1125 1141|0|.708|agri|.3|.9|250|.4|.6|1.55|.25
fossil_power|Utilities and environment|3510|35.11|221112|0|.5|power|.85|.85|100|.2|.75|.8|.18
nuclear_power|Utilities and environment|3510|35.11|221113|0|.7|power_renew|.75|.85|100|.2|.8|.8|.2
power_networks|Utilities and environment|3510|35.12 35.13|221121 221122|.64|.6|water|.8|.9|200|.2|.75|.8|.15
ports_airports|Transport|5221 5222 5223|52.2|4881 4882 4883 4884|.62|.484|rail|.7|.9|250|.3|.65|1|.2
warehousing|Transport|5210|52.1|493|.71|.434|real_estate|.4|.9|200|.3|.9|.67|.18
education|Public and social services|8510 8521 8530|85|611|.71|.706|services|.65|.9|200|.4|.12|.67|.25
public_administration|Public and social services|8411 8422|84|921|.71|.692|services|.65|.9|200|.4|.12|.67|.25
social_care|Public and social services|8810 8890|88|624|.71|.567|health_services|.6|.9|200|.2|.3|.67|.22
professional_services|Business services|6910 6920 7020 7110|69 70 71|5411 5412 5413 5416|.71|.671|services|.65|.9|200|.4|.12|.67|.25
research_development|Business services|7210 7220|72|5417|.71|.583|services|.65|.9|200|.4|.12|.67|.25
sports_recreation|Leisure and hospitality|9311 9329|93|7139 7112|.71|.578|leisure|.6|.9|200|.6|.45|1|.28
`;
