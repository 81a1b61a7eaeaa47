#ifdef __cplusplus
extern "C" {
#endif
/* A copy of a word, to be freed. */
char* CopyWord(const char* word);
/* Makes so many copies and frees them. */
void CopyWords(int count);
#ifdef __cplusplus
}
#endif
